# The tested versions of everything. Without arguments it runs the demo; anything else is passed to
# rinn. For a GPU: --build-arg EXTRAS=gpu,parquet,h5ad, and run it with --gpus all.
FROM python:3.12-slim

ARG EXTRAS=parquet,h5ad

COPY pyproject.toml constraints.txt README.md LICENSE /src/
COPY src /src/src
RUN python -m pip install --no-cache-dir -c /src/constraints.txt "/src[${EXTRAS}]" \
    && useradd --create-home rinn \
    && mkdir /work \
    && chown rinn /work

USER rinn
WORKDIR /work
# Without a screen, and with the cache of compiled programs in the user's home.
ENV MPLBACKEND=Agg
ENTRYPOINT ["rinn"]
CMD ["demo", "--out", "runs/demo"]
