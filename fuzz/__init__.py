"""The attack on supple: damaged files of every format it reads, sanitised builds, kills, full disks (docs/reliability.md).

`python -m fuzz robots --count 1000 --seed 1` from the root of the repository; `python -m fuzz --help` lists the rest."""
