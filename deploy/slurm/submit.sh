#!/bin/bash
# Submit workers with the resources for a model: submit.sh SIZE [--count N] [--ray] [options of sbatch …]
# SIZE: cpu (rules, endpoints), encoder (up to 1B parameters), 8b, 32b. Larger models: serve them, and use `cpu` here.
set -euo pipefail
usage="usage: submit.sh cpu|encoder|8b|32b [--count N] [--ray] [options of sbatch …]"
size="${1:?$usage}"
shift
count=4 script=worker.sbatch
while [ $# -gt 0 ]; do
    case "$1" in
        --count) count="$2"; shift 2 ;;
        --ray) script=ray.sbatch; shift ;;
        *) break ;;
    esac
done
# bfloat16 weights take 2 bytes per parameter, on the GPU and once more in memory while they load.
case "$size" in
    cpu) cpus=4 memory=16G gpus=0 ;;
    encoder) cpus=8 memory=32G gpus=1 ;;
    8b) cpus=8 memory=64G gpus=1 ;;
    32b) cpus=12 memory=160G gpus=1 ;;
    *) echo "$usage" >&2; exit 2 ;;
esac
options=(--cpus-per-task="$cpus" --mem="$memory")
if [ "$gpus" -gt 0 ]; then options+=(--gpus-per-node="$gpus"); fi
if [ "$script" = ray.sbatch ]; then options+=(--nodes="$count"); else options+=(--array="1-$count"); fi
exec sbatch "${options[@]}" "$@" "$(dirname "$0")/$script"
