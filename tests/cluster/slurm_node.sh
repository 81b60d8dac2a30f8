#!/usr/bin/env bash
# A SLURM cluster of one node, this machine, for tests: slurm_node.sh start FOLDER | stop FOLDER.
# Needs root and Debian's packages slurm-wlm and munge. All files are in FOLDER. Prints the file to name in SLURM_CONF.
set -euo pipefail
action=${1:?start or stop}
folder=$(realpath -m "${2:?folder}")
conf=$folder/slurm.conf

start() {
  mkdir -p "$folder"/{state,spool,munge}
  chmod 755 "$folder"
  dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
  chown -R munge:munge "$folder/munge"
  chmod 700 "$folder/munge" && chmod 400 "$folder/munge/key"
  chmod 711 "$folder/munge"
  local socket=$folder/munge/socket
  setsid runuser -u munge -- munged --force --key-file="$folder/munge/key" --socket="$socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
  local node
  node=$(hostname -s)
  cat > "$conf" <<CONF
ClusterName=rinn
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=${SLURMCTLD_PORT:-16817}
SlurmdPort=${SLURMD_PORT:-16818}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(( $(free -m | awk '/^Mem/{print $2}') - 500 )) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$conf
  slurmctld -f "$conf"
  slurmd -f "$conf" -N "$node"
  for _ in $(seq 60); do
    sinfo --noheader --format=%T 2>/dev/null | grep -q idle && { echo "$conf"; return; }
    sleep 0.5
  done
  echo "SLURM does not answer; see $folder/*.log" >&2
  exit 1
}

stop() {
  for name in slurmd slurmctld munge/pid; do
    local file=$folder/$name
    [ -f "$file" ] || file=$file.pid
    [ -f "$file" ] && kill "$(cat "$file")" 2>/dev/null || true
  done
}

"$action"
