// Pictures as files: SVG with real text and its looks inside, PNG at print size.
const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "opacity", "font-size", "font-weight", "text-anchor", "paint-order"];
const PRINT_WIDTH = 2126; // pixels: 180 mm, the width of a page's two columns, at 300 dots per inch
const MAX_SIDE = 16000; // browsers draw no larger canvas
const DOTS_PER_METRE = 11811; // 300 to the inch

// A copy that needs no style sheet, always in the light colours, without what is hidden.
function copyPicture(svg) {
  const root = document.documentElement, theme = root.dataset.theme;
  root.dataset.theme = "light";
  const copy = svg.cloneNode(true), gone = [];
  // Names that follow the scrolling go back to their places.
  for (const names of copy.querySelectorAll(".moves")) names.removeAttribute("transform");
  const theirs = [...copy.querySelectorAll("*")];
  [...svg.querySelectorAll("*")].forEach((mark, index) => {
    const twin = theirs[index], style = getComputedStyle(mark);
    for (const { name } of [...twin.attributes]) {
      if (/^(id|class|tabindex|role|display|data-.*|aria-.*)$/.test(name)) twin.removeAttribute(name);
    }
    if (style.display === "none") gone.push(twin);
    else if (mark.tagName === "g") twin.setAttribute("opacity", style.opacity);
    else if (mark.tagName !== "title") {
      for (const look of LOOKS) twin.setAttribute(look, style.getPropertyValue(look).trim());
    }
  });
  gone.forEach((twin) => twin.remove());
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  const { width, height } = svg.viewBox.baseVal;
  for (const { name } of [...copy.attributes]) if (name !== "viewBox") copy.removeAttribute(name);
  fill(copy, { xmlns: SVG, width, height, "font-family": "Arial, Helvetica, sans-serif" }, []);
  copy.prepend(draw("title", null, document.title));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function checkBytes(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

// The chunk of a PNG that says how large it is to be printed, after the header of 33 bytes.
function addResolution(png) {
  const chunk = new DataView(new ArrayBuffer(21));
  chunk.setUint32(0, 9);
  [..."pHYs"].forEach((letter, index) => chunk.setUint8(4 + index, letter.charCodeAt(0)));
  chunk.setUint32(8, DOTS_PER_METRE);
  chunk.setUint32(12, DOTS_PER_METRE);
  chunk.setUint8(16, 1);
  chunk.setUint32(17, checkBytes(new Uint8Array(chunk.buffer, 4, 13)));
  return new Blob([png.slice(0, 33), chunk, png.slice(33)], { type: "image/png" });
}

async function drawPng({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(Math.max(PRINT_WIDTH / width, 1.5), MAX_SIDE / Math.max(width, height));
  const canvas = make("canvas", { width: Math.round(scale * width), height: Math.round(scale * height) });
  const brush = canvas.getContext("2d");
  brush.fillStyle = "#ffffff";
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  return addResolution(new Uint8Array(await blob.arrayBuffer()));
}

function startPictures() {
  for (const button of document.querySelectorAll("[data-save]")) {
    const { save, picture: id, name } = button.dataset;
    button.addEventListener("click", async () => {
      if (save === "csv") return saveBlob(new Blob([writeHeat()], { type: "text/csv" }), `${name}.csv`);
      const copy = copyPicture(byId(id));
      const blob = save === "svg" ? new Blob([copy.text], { type: "image/svg+xml" }) : await drawPng(copy);
      return saveBlob(blob, `${name}.${save}`);
    });
  }
}
