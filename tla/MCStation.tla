----------------------------- MODULE MCStation -----------------------------
(* The values that the inputs of Station.tla take in the searches; the       *)
(* actions are in MCStation_gen.tla.                                         *)
EXTENDS Station

Letter(message, tier, fence, released, prior, own, depth, normal, ancestry) ==
  [message |-> message, seq |-> message, tier |-> tier, content |-> 10 + message, fence |-> fence, released |-> released,
   prior |-> prior, own |-> own, depth |-> depth, normal |-> normal, ancestry |-> ancestry]

alert    == Letter(1, 0, 5, 0, <<>>, FALSE, 1, 21, <<>>)
mail     == Letter(2, 2, 6, 0, <<>>, FALSE, 1, 22, <<>>)
released == Letter(1, 0, 7, 1, <<>>, FALSE, 1, 21, <<>>)                                  \* given back by an operator
prior    == Letter(1, 0, 5, 0, << [turn |-> 99, response |-> "reply"] >>, FALSE, 1, 21, <<>>)
deep     == Letter(3, 2, 6, 0, <<>>, TRUE, 3, 23, <<>>)
loop     == Letter(4, 2, 6, 0, <<>>, TRUE, 1, 24, <<4>>)
echo     == Letter(5, 2, 6, 0, <<>>, TRUE, 1, 25, <<>>)
echo2    == Letter(6, 2, 6, 0, <<>>, TRUE, 1, 25, <<>>)                                   \* the same words once more

\* The id that a claim brings for a turn, should one start; never the same twice within a search.
TurnId == 10 * M.img.epoch + M.live.issued

reply   == <<[response |-> "reply", outcome |-> "handled"]>>
failed  == <<[response |-> "reply", outcome |-> "failed"]>>
silence == <<[response |-> "silence", outcome |-> "silence"]>>
nothing == <<>>

(* Tickets: `own` is what the phase waits for, or else the cleanup's, or else the last one that was issued. *)
Last == [epoch |-> M.img.epoch, number |-> M.live.issued]
OfCleaning == IF OwesCleanup(M) THEN M.live.cleaning[1].ticket ELSE Last
t_own   == IF PhaseTicket(M) # <<>> THEN PhaseTicket(M)[1] ELSE OfCleaning
t_clean == OfCleaning
t_late  == [Last EXCEPT !.number = Minus(@, 1)]
t_stale == [t_own EXCEPT !.epoch = @ - 1]
t_never == [Last EXCEPT !.number = @ + 1]
t_future == [t_own EXCEPT !.epoch = @ + 1]

Fence == IF Phase(M) = "cognizing" THEN M.live.phase.pass.fence
         ELSE IF Phase(M) = "acking" /\ M.live.phase.closing.step # "own" THEN M.live.phase.closing.pass.fence
         ELSE 5
GrantUntil == FirstWall + 6
=============================================================================
