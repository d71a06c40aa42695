----------------------------- MODULE MCAwakener -----------------------------
(* The actions of the composed system by name; MCAwakener_gen.tla has the     *)
(* searches.                                                                  *)
EXTENDS Awakener
=============================================================================
