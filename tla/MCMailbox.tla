----------------------------- MODULE MCMailbox -----------------------------
(* The values that the inputs of Mailbox.tla take in the searches; the       *)
(* actions are in MCMailbox_gen.tla.                                         *)
EXTENDS Mailbox

Sub(id, tier, content) == [id |-> id, tier |-> tier, content |-> content, own |-> FALSE, can_ack |-> TRUE, roster |-> "listed"]
alert  == Sub(1, 0, 11)
mail   == Sub(2, 2, 12)
alert3 == Sub(3, 0, 13)
mail4  == Sub(4, 1, 14)
other_content == Sub(1, 0, 99)
self_wake        == [Sub(9, 0, 19) EXCEPT !.own = TRUE]
cannot_ack       == [Sub(9, 0, 19) EXCEPT !.can_ack = FALSE]
roster_absent    == [Sub(9, 0, 19) EXCEPT !.roster = "roster_absent"]
roster_malformed == [Sub(9, 0, 19) EXCEPT !.roster = "roster_malformed"]
roster_expired   == [Sub(9, 0, 19) EXCEPT !.roster = "roster_expired"]
stranger         == [Sub(9, 0, 19) EXCEPT !.roster = "not_on_roster"]

\* Fences of leases: the last one that was given out, and the one before it.
now_  == M.img.lease_fence
old_  == Minus(M.img.lease_fence, 1)

Statement(id, outcome, by) == [id |-> id, content |-> 10 + id, outcome |-> outcome, by |-> by, ahead |-> 0, key |-> "valid",
                               signature |-> TRUE, target |-> TRUE]
by_station == Statement(1, "handled", "station")
by_agent   == Statement(1, "handled", "agent")
by_human   == Statement(1, "declined", "human")
agent3     == Statement(3, "handled", "agent")
wrong_key     == [by_agent EXCEPT !.key = "wrong"]
key_revoked   == [by_agent EXCEPT !.key = "revoked"]
bad_signature == [by_agent EXCEPT !.signature = FALSE]
wrong_target  == [by_agent EXCEPT !.target = FALSE]
wrong_content == [by_agent EXCEPT !.content = 99]
too_early     == [by_agent EXCEPT !.ahead = Skew + 1]
skewed        == [by_agent EXCEPT !.ahead = Skew]
of_mail       == Statement(2, "handled", "agent")
of_nothing    == Statement(8, "handled", "agent")
none          == <<>>
fence         == <<now_>>
stale         == <<old_>>

\* Questions: about the last hint, the first one, one that never was, and the last one with something changed.
LastWake == Cardinality(M.rows.mints)
About(wake) == IF MintOf(M, wake) = {} THEN [wake |-> wake, message |-> 1, token |-> [epoch |-> 1, counter |-> 1]]
               ELSE [wake |-> wake, message |-> The(MintOf(M, wake)).message, token |-> The(MintOf(M, wake)).token]
last_     == About(LastWake)
first_    == About(1)
unminted  == About(99)
other_token   == [last_ EXCEPT !.token.counter = @ + 5]
other_message == [last_ EXCEPT !.message = @ + 5]

\* Reports: under the last permit that was given out; its wake if it is there, else the last one.
PermitWake == IF M.img.permit # <<>> THEN M.img.permit[1].wake ELSE LastWake
=============================================================================
