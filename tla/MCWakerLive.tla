---------------------------- MODULE MCWakerLive ----------------------------
(* The liveness of WakerLive.tla, whole and with each fairness condition     *)
(* taken away in turn: which property falls then stands in live.toml.        *)
EXTENDS WakerLive
Start == LiveInit /\ [][LiveNext]_live_vars
Without_none == Start /\ F_calm /\ F_time /\ F_boot /\ F_asks /\ F_looks /\ F_ends /\ F_permits /\ F_sweep
Without_calm == Start /\ F_time /\ F_boot /\ F_asks /\ F_looks /\ F_ends /\ F_permits /\ F_sweep
Without_time == Start /\ F_calm /\ F_boot /\ F_asks /\ F_looks /\ F_ends /\ F_permits /\ F_sweep
Without_boot == Start /\ F_calm /\ F_time /\ F_asks /\ F_looks /\ F_ends /\ F_permits /\ F_sweep
Without_asks == Start /\ F_calm /\ F_time /\ F_boot /\ F_looks /\ F_ends /\ F_permits /\ F_sweep
Without_looks == Start /\ F_calm /\ F_time /\ F_boot /\ F_asks /\ F_ends /\ F_permits /\ F_sweep
Without_ends == Start /\ F_calm /\ F_time /\ F_boot /\ F_asks /\ F_looks /\ F_permits /\ F_sweep
Without_permits == Start /\ F_calm /\ F_time /\ F_boot /\ F_asks /\ F_looks /\ F_ends /\ F_sweep
Without_sweep == Start /\ F_calm /\ F_time /\ F_boot /\ F_asks /\ F_looks /\ F_ends /\ F_permits
=============================================================================
