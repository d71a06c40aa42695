------------------------------ MODULE MCWaker ------------------------------
(* The values that the inputs of Waker.tla take in the searches.  The actions *)
(* themselves, one per value and outcome, are in MCWaker_gen.tla.             *)
EXTENDS Waker

(* Hints for one target. h1 and h2 are minted; h3 has a token below both; h4 has the nonce of h1 under a fresh token,
   which only a thief of the router's key can sign. *)
h1 == [wake |-> 1, message |-> 1, nonce |-> 1, token |-> 10, time |-> FirstWall, expires |-> FirstWall + 2, key |-> 1]
h2 == [wake |-> 2, message |-> 2, nonce |-> 2, token |-> 20, time |-> FirstWall, expires |-> FirstWall + 4, key |-> 1]
h3 == [wake |-> 3, message |-> 1, nonce |-> 3, token |-> 5, time |-> FirstWall, expires |-> FirstWall + 2, key |-> 1]
h4 == [wake |-> 4, message |-> 1, nonce |-> 1, token |-> 30, time |-> FirstWall, expires |-> FirstWall + 3, key |-> 1]
h5 == [wake |-> 5, message |-> 1, nonce |-> 5, token |-> 50, time |-> FirstWall, expires |-> FirstWall + 4, key |-> 1]

(* Tickets: `own` is what the slot waits for; where the slot is empty, the last ticket that was issued, which is late or
   belongs to something else. `boot` differs from it in the boot only, `number` in the number only. *)
Last == [boot |-> M.img.boot, number |-> M.live.issued]
OfQuestion == IF M.live.question # <<>> /\ M.live.question[1].out # <<>> THEN M.live.question[1].out[1].ticket ELSE Last
OfSweep    == IF M.live.sweep # <<>> THEN M.live.sweep[1] ELSE Last
OfDispatch == IF M.live.aloft # <<>> /\ M.live.aloft[1].dispatch # <<>> THEN M.live.aloft[1].dispatch[1] ELSE Last
OfProbe    == IF M.live.aloft # <<>> /\ M.live.aloft[1].resolve # <<>> /\ "out" \in DOMAIN M.live.aloft[1].resolve[1]
              THEN M.live.aloft[1].resolve[1].out ELSE Last
t_own(t)    == t
t_boot(t)   == [t EXCEPT !.boot = @ - 1]
t_number(t) == [t EXCEPT !.number = @ + 1]

granted == [kind |-> "granted", fence |-> 7]
withheld(class) == [kind |-> "withheld", class |-> class]

\* Attempts: the open flight's, or the last one's; and one that is not.
this  == IF M.img.flight # <<>> THEN M.img.flight[1].attempt ELSE M.img.attempts
other == this + 1
=============================================================================
