------------------------------- MODULE Waker -------------------------------
(* The waker of one target: it judges hints and starts, or notifies, at most *)
(* one runtime.  Written from spec/ (rules VER, DSP, machines/waker.toml)    *)
(* and not from the kernel: the two are compared, so neither may be derived  *)
(* from the other.  What the rules leave open is in AMBIGUITIES.md.          *)
(*                                                                           *)
(* Three parts:                                                              *)
(*   1. the machine, as operators from (machine, now, input) to a step       *)
(*      [out, m, eff]: outcome, machine afterwards, effects in order;        *)
(*   2. the process around it: disk, transaction, commit, failed commit,     *)
(*      crash, boot (the laws of a step in ARCHITECTURE.md);                 *)
(*   3. the clocks, and what must hold (by rule id).                         *)
(*                                                                           *)
(* Surroundings: there are none.  Every input of the alphabet can come in    *)
(* every state in which the machine is up, whether anything asked for it or  *)
(* not.  That is a stronger adversary than any real network, adapter or      *)
(* plane, and it makes the graph total: what is refused or absorbed is a     *)
(* self-loop (VER-5, law 1).  MCWaker.tla names one action per input,        *)
(* parameter value and outcome.                                              *)
(*                                                                           *)
(* An option is <<>> or <<value>>.                                           *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Cooldown,      \* DSP-1
  FlightMax,     \* DSP-2
  PermitLife,    \* DSP-7: how long a question about a start that was put off may take
  Patience,      \* pause before a plane that gave no word is asked again
  SweepEvery,    \* DSP-11
  BackOffBase, BackOffMax,   \* DSP-3
  Skew,          \* VER-3: how long an expired nonce is kept at least
  NonceHistory   \* VER-3

CONSTANTS        \* bounds of the search; a step that would pass one is not taken
  MaxBoot, MaxIssued, MaxAttempts, MaxMono, MaxWall,
  FirstWall,     \* where the wall clock begins
  Backs, Aheads, \* by how much the wall clock may be set back, or ahead
  Batch,         \* steps in one transaction
  MayCrash,      \* whether the process may crash
  Fates          \* how a commit may fail: subset of {"not_durable", "written"}

VARIABLES
  disk,          \* the durable image
  proc,          \* [up |-> <<>>] or [up |-> <<machine>>, staged |-> number of staged steps, eff |-> sealed effects]
  wall, mono     \* the two clocks

vars == <<disk, proc, wall, mono>>

------------------------------------------------------------------------------
(* 1. The machine *)

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b
Minus(a, b) == IF a > b THEN a - b ELSE 0

FreshImage == [boot |-> 0, window |-> {}, high_water |-> <<>>, pending |-> <<>>, flight |-> <<>>,
               attempts |-> 0, last_start |-> <<>>, failures |-> 0]

\* DSP-3: a base that doubles with each definite failure in a row, up to a cap.
BackOff(failures) == IF failures = 0 THEN 0 ELSE Min(BackOffBase * 2 ^ (failures - 1), BackOffMax)

\* DSP-1: the pause after the last decision to start.
Pause(img) == Max(Cooldown, BackOff(img.failures))

\* DSP-1, FML-2: what is left of a durable length, between nothing and all of it, whatever the wall clock did.
Rest(from, length) == Min(Minus(from + length, wall), length)

\* DSP-11, DSP-12: what a machine knows after a recovery. A sweep is due at once: the look that is owed.
Woken(img) ==
  [issued     |-> 0,
   question   |-> <<>>,
   sweep      |-> <<>>,
   owed       |-> FALSE,
   sweep_at   |-> mono,
   ready      |-> IF img.last_start = <<>> THEN mono ELSE mono + Rest(img.last_start[1], Pause(img)),
   retry      |-> mono,
   aloft      |-> IF img.flight = <<>> THEN <<>>
                  ELSE << [until    |-> mono + Rest(img.flight[1].started, FlightMax),
                           dispatch |-> <<>>,
                           resolve  |-> << [at |-> mono] >>] >>,
   paused     |-> FALSE,
   capability |-> "unknown_agent"]

\* A step that leaves everything as it was.
Still(m, out) == [out |-> out, m |-> m, eff |-> <<>>]
\* A step that advances.
Moved(m, out, eff) == [out |-> out, m |-> m, eff |-> eff]

NextTicket(m) == [boot |-> m.img.boot, number |-> m.live.issued + 1]

Eligible(capability) == capability \in {"unattended", "attended"}

(* VER-3: what must go so that at most `keep` nonces stay: the first to expire, and only if expired, skew included. *)
Older(a, b) == a.expires < b.expires \/ (a.expires = b.expires /\ a.nonce <= b.nonce)
Surplus(window, keep) ==
  {s \in window : Cardinality({t \in window : Older(t, s)}) <= Minus(Cardinality(window), keep)}
MayGo(seen) == seen.expires + Skew <= wall
NoRoom(window) == \E s \in Surplus(window, Minus(NonceHistory, 1)) : ~MayGo(s)

\* What keeps a start from happening now, apart from the plane; the first that applies.
Hold(m) ==
  IF m.img.flight # <<>> THEN "flight"                              \* DSP-2
  ELSE IF ~Eligible(m.live.capability) THEN "ineligible"            \* DSP-3, DSP-8
  ELSE IF m.live.paused THEN "paused"                               \* DSP-10
  ELSE IF mono < m.live.ready THEN
         IF BackOff(m.img.failures) > Cooldown THEN "back_off" ELSE "cooldown"   \* DSP-3, DSP-1
  ELSE "none"

QuestionOf(q) == IF q.about.kind = "fresh"
                 THEN [wake |-> q.about.hint.wake, message |-> q.about.hint.message, token |-> q.about.hint.token]
                 ELSE q.about.question

(* Asks the plane (DSP-7): one question at a time, under a ticket of its own. *)
Ask(m, about, until, out) ==
  LET t == NextTicket(m)
      q == [about |-> about, out |-> << [ticket |-> t, at |-> mono] >>, until |-> until]
  IN  Moved([m EXCEPT !.live.issued = @ + 1, !.live.question = <<q>>], out,
            << [kind |-> "ask", ticket |-> t, question |-> QuestionOf(q)] >>)

(* VER-1, the classes that need the state of this target; then the plane is asked. *)
StepHint(m, h) ==
  IF wall >= h.expires THEN Still(m, "refused_stale")
  ELSE IF \E s \in m.img.window : s.nonce = h.nonce THEN Still(m, "refused_replay")
  ELSE IF m.img.high_water # <<>> /\ h.token <= m.img.high_water[1] THEN Still(m, "refused_freshness_regression")
  ELSE IF NoRoom(m.img.window) THEN Still(m, "refused_window_full")            \* VER-3
  ELSE IF m.live.question # <<>> THEN                                           \* DSP-7: one pending look
         IF m.live.owed THEN Still(m, "absorbed")
         ELSE Moved([m EXCEPT !.live.owed = TRUE], "look_owed", <<>>)
  ELSE Ask(m, [kind |-> "fresh", hint |-> h], mono + (h.expires - wall), "asked")

\* The end of a flight owes a look (DSP-2); a definite failure backs off (DSP-3).
EndFlight(m, end) ==
  LET f == m.img.failures + 1 IN
  IF end = "never_started"
  THEN [m EXCEPT !.img.flight = <<>>, !.img.failures = f, !.live.aloft = <<>>, !.live.owed = TRUE,
                 !.live.ready = Max(@, mono + BackOff(f))]
  ELSE [m EXCEPT !.img.flight = <<>>, !.live.aloft = <<>>, !.live.owed = TRUE]

Report(f, report) == [kind |-> "report", fence |-> f.fence, wake |-> f.wake, report |-> report]

(* DSP-2: the durable dispatch_attempted, then the report of it, then the dispatch. *)
Dispatch(m, q, fence, until, out) ==
  LET t == NextTicket(m)
      f == [attempt |-> m.img.attempts + 1, wake |-> q.wake, message |-> q.message, fence |-> fence,
            started |-> wall, notice |-> "attempting", read |-> FALSE]
  IN  Moved([m EXCEPT !.img.flight = <<f>>, !.img.attempts = f.attempt, !.img.last_start = <<wall>>,
                      !.img.pending = <<>>,
                      !.live.issued = @ + 1, !.live.question = <<>>, !.live.ready = mono + Cooldown,
                      !.live.aloft = << [until |-> mono + FlightMax, dispatch |-> <<t>>, resolve |-> <<>>] >>],
            out,
            << Report(f, "attempted"),
               [kind |-> "dispatch", ticket |-> t, attempt |-> f.attempt, wake |-> f.wake, message |-> f.message,
                fence |-> fence, until |-> until, attended |-> m.live.capability = "attended"] >>)

\* A permit is here; what follows: the flight, or it waits (DSP-1).
Follow(m, q, asked, fence, word) ==
  LET until == asked + PermitLife
      hold  == Hold(m)
      rest  == [m EXCEPT !.live.question = <<>>, !.img.pending = <<q>>]
  IN  IF hold # "none" THEN Moved(rest, word \o "_wait_" \o hold, <<>>)
      ELSE IF mono >= until THEN Moved(rest, word \o "_wait_permit_spent", <<>>)
      ELSE Dispatch(rest, q, fence, until, word \o "_dispatch")

(* VER-2: acceptance, the only thing that moves what verification remembers. *)
Accept(m, h) ==
  [m EXCEPT !.img.window = (@ \ Surplus(@, Minus(NonceHistory, 1))) \cup {[expires |-> h.expires, nonce |-> h.nonce]},
            !.img.high_water = <<h.token>>,
            !.img.pending = << [wake |-> h.wake, message |-> h.message, token |-> h.token] >>]

NoQuestion(m) == [m EXCEPT !.live.question = <<>>]
Impatient(m) == [m EXCEPT !.live.retry = mono + Patience]

\* The plane gave no word in time.
Unanswered(m, q) ==
  IF q.about.kind = "fresh" THEN Moved(NoQuestion(m), "withheld_unanswered", <<>>)
  ELSE Moved(Impatient(NoQuestion(m)), "ask_failed", <<>>)

Answers(m, ticket) == m.live.question # <<>> /\ m.live.question[1].out # <<>>
                      /\ m.live.question[1].out[1].ticket = ticket

(* DSP-7: the plane's word. `answer` is [kind |-> "granted", fence] or [kind |-> "withheld", class]. *)
StepAnswer(m, ticket, answer) ==
  IF ~Answers(m, ticket) THEN Still(m, "absorbed")
  ELSE
  LET q == m.live.question[1] IN
  IF mono >= q.until \/ (q.about.kind = "fresh" /\ wall >= q.about.hint.expires) THEN Unanswered(m, q)
  ELSE IF q.about.kind = "fresh" THEN
    LET h == q.about.hint IN
    IF answer.kind = "withheld" THEN Moved(NoQuestion(m), "withheld_" \o answer.class, <<>>)
    ELSE IF NoRoom(m.img.window) THEN Moved(NoQuestion(m), "withheld_window_full", <<>>)
    ELSE Follow(Accept(m, h), QuestionOf(q), q.out[1].at, answer.fence, "accepted")
  ELSE
    IF answer.kind = "granted" THEN Follow(m, QuestionOf(q), q.out[1].at, answer.fence, "permitted")
    ELSE IF answer.class = "permit_held"
         THEN Moved(Impatient(NoQuestion(m)), "permitted_wait_permit_held", <<>>)
    ELSE Moved([NoQuestion(m) EXCEPT !.img.pending = <<>>], "dropped_" \o answer.class, <<>>)

StepAskFailed(m, ticket) ==
  IF Answers(m, ticket) THEN
    IF m.live.question[1].about.kind = "fresh"
    THEN Moved(Impatient([m EXCEPT !.live.question[1].out = <<>>]), "ask_failed", <<>>)   \* held until it ends
    ELSE Moved(Impatient(NoQuestion(m)), "ask_failed", <<>>)
  ELSE IF m.live.sweep = <<ticket>>
       THEN Moved(Impatient([m EXCEPT !.live.sweep = <<>>, !.live.owed = TRUE]), "ask_failed", <<>>)
  ELSE Still(m, "absorbed")

Told == {"notified_verified", "notified_human"}
Unsure == {"outcome_unknown", "typed_unverified"}
Nothing == {"not_attempted", "refused_busy", "unavailable"}

(* DSP-4, DSP-5: the adapter's answer. *)
StepDispatched(m, ticket, outcome) ==
  IF m.live.aloft = <<>> \/ m.live.aloft[1].dispatch # <<ticket>> THEN Still(m, "absorbed")
  ELSE
  LET f == m.img.flight[1]
      heard == [m EXCEPT !.live.aloft[1].dispatch = <<>>]
      said == Report(f, "outcome_" \o outcome)
  IN  IF outcome \in Told
      THEN Moved([heard EXCEPT !.img.flight[1].notice = "told", !.img.failures = 0], "dispatched", <<said>>)
      ELSE IF outcome \in Unsure
      THEN Moved([heard EXCEPT !.img.flight[1].notice = "unknown"], "dispatched", <<said>>)
      ELSE Moved(EndFlight(m, "never_started"), "dispatched", <<said, Report(f, "ended_never_started")>>)

(* DSP-12: the fate of a flight from before a restart. *)
StepProbed(m, ticket, fate) ==
  IF m.live.aloft = <<>> \/ m.live.aloft[1].resolve # << [out |-> ticket] >> THEN Still(m, "absorbed")
  ELSE IF fate = "alive"
  THEN Moved([m EXCEPT !.img.flight[1].notice = "told", !.live.aloft[1].resolve = <<>>], "probed", <<>>)
  ELSE IF fate = "cannot_tell"
  THEN Moved([m EXCEPT !.live.aloft[1].resolve = << [at |-> mono + Patience] >>], "probed", <<>>)
  ELSE Moved(EndFlight(m, "process_ended"), "probed", <<Report(m.img.flight[1], "ended_process_ended")>>)

(* DSP-2: an end as adapter or plane see it. That a flight ran out is for the waker alone to say. *)
StepFlightEnded(m, attempt, end) ==
  IF m.img.flight = <<>> \/ m.img.flight[1].attempt # attempt \/ end = "expired" THEN Still(m, "absorbed")
  ELSE Moved(EndFlight(m, end), "flight_ended", <<Report(m.img.flight[1], "ended_" \o end)>>)

StepInboxRead(m, attempt) ==
  IF m.img.flight = <<>> \/ m.img.flight[1].attempt # attempt \/ m.img.flight[1].read THEN Still(m, "absorbed")
  ELSE Moved([m EXCEPT !.img.flight[1].read = TRUE, !.img.failures = 0], "inbox_read", <<>>)

StepPause(m) == IF m.live.paused THEN Still(m, "absorbed")
                ELSE Moved([m EXCEPT !.live.paused = TRUE], "paused", <<>>)
StepResume(m) == IF ~m.live.paused THEN Still(m, "absorbed")
                 ELSE Moved([m EXCEPT !.live.paused = FALSE], "resumed", <<>>)
StepCapability(m, c) == IF m.live.capability = c THEN Still(m, "absorbed")
                        ELSE Moved([m EXCEPT !.live.capability = c], "capability_changed", <<>>)

(* DSP-11: the plane can be reached again: what it owed an answer to is asked at once. *)
StepReconnect(m) == IF m.live.owed /\ m.live.retry <= mono THEN Still(m, "absorbed")
                    ELSE Moved([m EXCEPT !.live.owed = TRUE, !.live.retry = Min(@, mono)], "reconnected", <<>>)

StepSwept(m, ticket) == IF m.live.sweep # <<ticket>> THEN Still(m, "absorbed")
                        ELSE Moved([m EXCEPT !.live.sweep = <<>>], "swept", <<>>)

(* Deadlines are functions of the state (law 4). In the order in which they are done; an entry is <<what, when>>. *)
Resting(m) == m.live.question = <<>> /\ m.img.pending = <<>> /\ m.img.flight = <<>>
Startable(m) == m.img.pending # <<>> /\ m.live.question = <<>> /\ m.img.flight = <<>>
                /\ Eligible(m.live.capability) /\ ~m.live.paused
SweepDue(m) == IF m.live.owed /\ Resting(m) THEN Min(m.live.retry, m.live.sweep_at) ELSE m.live.sweep_at

UnansweredDue(m) == m.live.question # <<>> /\ m.live.question[1].until <= mono
FlightMaxDue(m) == m.live.aloft # <<>> /\ m.live.aloft[1].until <= mono
ProbeDue(m) == m.live.aloft # <<>> /\ m.live.aloft[1].resolve # <<>>
               /\ "at" \in DOMAIN m.live.aloft[1].resolve[1] /\ m.live.aloft[1].resolve[1].at <= mono
HeldDue(m) == m.live.question # <<>> /\ m.live.question[1].out = <<>> /\ m.live.retry <= mono
PendingDue(m) == Startable(m) /\ Max(m.live.ready, m.live.retry) <= mono

StepFire(m) ==
  IF UnansweredDue(m) THEN Unanswered(m, m.live.question[1])
  ELSE IF FlightMaxDue(m) THEN
    LET f == m.img.flight[1]
        warned == IF m.live.aloft[1].resolve = <<>> THEN <<>>
                  ELSE << [kind |-> "tell_operator", warning |-> "fate_unknown", attempt |-> f.attempt,
                           wake |-> f.wake, message |-> f.message] >>
    IN  Moved(EndFlight(m, "expired"), "flight_ended", <<Report(f, "ended_expired")>> \o warned)
  ELSE IF ProbeDue(m) THEN
    LET t == NextTicket(m)
        f == m.img.flight[1]
    IN  Moved([m EXCEPT !.live.issued = @ + 1, !.live.aloft[1].resolve = << [out |-> t] >>], "probing",
              << [kind |-> "probe", ticket |-> t, attempt |-> f.attempt, wake |-> f.wake, message |-> f.message,
                  fence |-> f.fence] >>)
  ELSE IF HeldDue(m) THEN Ask(m, m.live.question[1].about, m.live.question[1].until, "asked")
  ELSE IF PendingDue(m) THEN
    Ask(m, [kind |-> "again", question |-> m.img.pending[1]], mono + PermitLife, "asked")
  ELSE IF SweepDue(m) <= mono THEN
    LET t == NextTicket(m) IN
    Moved([m EXCEPT !.live.issued = @ + 1, !.live.sweep = <<t>>, !.live.owed = FALSE,
                    !.live.sweep_at = mono + SweepEvery],
          "sweeping", << [kind |-> "sweep", ticket |-> t] >>)
  ELSE Still(m, "absorbed")

Advances(out) == out # "absorbed" /\ out \notin
  {"refused_stale", "refused_replay", "refused_freshness_regression", "refused_window_full"}

------------------------------------------------------------------------------
(* 2. The process *)

Down == [up |-> <<>>, staged |-> 0, eff |-> <<>>]
IsUp == proc.up # <<>>
M == proc.up[1]
Room == IsUp /\ proc.staged < Batch
Within(m) == m.live.issued <= MaxIssued /\ m.img.attempts <= MaxAttempts

Init == disk = FreshImage /\ proc = Down /\ wall = FirstWall /\ mono = 0

(* One input, tried where the machine is up and the transaction has room: staged if it advances (law 2), nothing
   at all if not (law 1). `s` is the step, `out` the outcome that the action is named after. *)
Take(s, out) ==
  /\ s.out = out
  /\ IF Advances(out)
     THEN /\ Within(s.m)
          /\ proc' = [up |-> <<s.m>>, staged |-> proc.staged + 1, eff |-> proc.eff \o s.eff]
          /\ UNCHANGED <<disk, wall, mono>>
     ELSE UNCHANGED vars

(* The process wakes from its disk: a record, and no effect (DSP-11). *)
Boot ==
  /\ ~IsUp /\ disk.boot < MaxBoot
  /\ LET img == [disk EXCEPT !.boot = @ + 1]
     IN  proc' = [up |-> <<[img |-> img, live |-> Woken(img)]>>, staged |-> 1, eff |-> <<>>]
  /\ UNCHANGED <<disk, wall, mono>>

Commit ==
  /\ IsUp /\ proc.staged > 0
  /\ disk' = M.img
  /\ proc' = [up |-> proc.up, staged |-> 0, eff |-> <<>>]
  /\ UNCHANGED <<wall, mono>>

(* Nothing was released, and only a recovery is left; whether it is on disk nobody in the process knows. *)
CommitFails(fate) ==
  /\ IsUp /\ proc.staged > 0 /\ fate \in Fates
  /\ disk' = IF fate = "written" THEN M.img ELSE disk
  /\ proc' = Down
  /\ UNCHANGED <<wall, mono>>

Crash ==
  /\ IsUp /\ MayCrash
  /\ proc' = Down /\ mono' = 0
  /\ UNCHANGED <<disk, wall>>

(* Time passes between transactions: a commit does not look at the clock, so inside one it would show nothing. *)
Tick ==
  /\ IsUp /\ proc.staged = 0 /\ mono < MaxMono /\ wall < MaxWall
  /\ mono' = mono + 1 /\ wall' = wall + 1
  /\ UNCHANGED <<disk, proc>>

ClockBack(by) ==
  /\ by \in Backs /\ wall >= by /\ proc.staged = 0
  /\ wall' = wall - by
  /\ UNCHANGED <<disk, proc, mono>>

ClockAhead(by) ==
  /\ by \in Aheads /\ wall + by <= MaxWall /\ proc.staged = 0
  /\ wall' = wall + by
  /\ UNCHANGED <<disk, proc, mono>>

------------------------------------------------------------------------------
(* 3. What holds *)

Opt(S) == {<<>>} \cup {<<x>> : x \in S}
IsTicket(t) == DOMAIN t = {"boot", "number"} /\ t.boot \in 0..MaxBoot /\ t.number \in 0..MaxIssued

TypeImage(img) ==
  /\ img.boot \in 0..MaxBoot
  /\ \A s \in img.window : s.expires \in Nat /\ s.nonce \in Nat
  /\ img.high_water = <<>> \/ img.high_water[1] \in Nat
  /\ img.pending = <<>> \/ DOMAIN img.pending[1] = {"wake", "message", "token"}
  /\ img.flight = <<>> \/ (/\ img.flight[1].attempt \in 1..MaxAttempts
                           /\ img.flight[1].notice \in {"attempting", "told", "unknown"}
                           /\ img.flight[1].read \in BOOLEAN)
  /\ img.attempts \in 0..MaxAttempts
  /\ img.failures \in 0..MaxAttempts

TypeLive(live) ==
  /\ live.issued \in 0..MaxIssued
  /\ live.question = <<>> \/ (/\ live.question[1].about.kind \in {"fresh", "again"}
                              /\ live.question[1].out = <<>> \/ IsTicket(live.question[1].out[1].ticket))
  /\ live.sweep = <<>> \/ IsTicket(live.sweep[1])
  /\ live.owed \in BOOLEAN /\ live.paused \in BOOLEAN
  /\ live.capability \in {"unknown_agent", "no_adapter", "no_tier0_ack", "unattended", "attended"}
  /\ live.sweep_at \in Nat /\ live.ready \in Nat /\ live.retry \in Nat

TypeOK ==
  /\ TypeImage(disk)
  /\ wall \in 0..MaxWall /\ mono \in 0..MaxMono
  /\ proc.staged \in 0..Batch
  /\ IsUp => TypeImage(M.img) /\ TypeLive(M.live)

\* Law 3: what is live is what is on disk.
FML_1_live_is_durable == IsUp /\ proc.staged = 0 => M.img = disk
\* Law 2: nothing is out before its commit.
FML_1_sealed == proc.staged = 0 => proc.eff = <<>>
FML_1_aloft_is_flight == IsUp => ((M.live.aloft = <<>>) <=> (M.img.flight = <<>>))
VER_3_history == Cardinality(disk.window) <= NonceHistory
\* DSP-1: at most one pending start, and none for the wake that flies.
DSP_1_pending == disk.pending # <<>> /\ disk.flight # <<>> => disk.pending[1].wake # disk.flight[1].wake
\* DSP-7: an answered question about a start that was put off is about what is pending.
DSP_7_again == IsUp /\ M.live.question # <<>> /\ M.live.question[1].about.kind = "again"
               => M.img.pending = <<M.live.question[1].about.question>>
\* DSP-7: the plane hears of an attempt before the dispatch leaves.
DSP_7_report_first ==
  \A i \in DOMAIN proc.eff : proc.eff[i].kind = "dispatch" =>
    \E j \in 1..(i - 1) : proc.eff[j].kind = "report" /\ proc.eff[j].report = "attempted"
                          /\ proc.eff[j].fence = proc.eff[i].fence
\* DSP-7: no dispatch is decided under a permit that has run out.
DSP_7_permit_lives == \A i \in DOMAIN proc.eff : proc.eff[i].kind = "dispatch" => mono < proc.eff[i].until
\* DSP-8: what starts was declared, and it is said whether a human is there.
DSP_8_declared == \A i \in DOMAIN proc.eff : proc.eff[i].kind = "dispatch" =>
                    Eligible(M.live.capability) \/ proc.staged > 1
DSP_8_attended == \A i \in DOMAIN proc.eff : proc.eff[i].kind = "dispatch" =>
                    (proc.eff[i].attended <=> M.live.capability = "attended") \/ proc.staged > 1
\* DSP-10: nothing starts during a pause.
DSP_10_paused == \A i \in DOMAIN proc.eff : proc.eff[i].kind = "dispatch" => ~M.live.paused \/ proc.staged > 1
\* DSP-11: a look is due as soon as a machine is up, until it is under way.
DSP_11_boot_looks == IsUp /\ M.live.issued = 0 => M.live.sweep_at <= mono
\* DSP-11: with nothing asked, pending or in flight, an owed look is never further away than the pause after a failure.
DSP_11_owed_is_due == IsUp /\ M.live.owed /\ Resting(M) => SweepDue(M) <= mono + Patience
\* DSP-12: after a recovery the fate of an open flight is looked up.
DSP_12_looked_up == IsUp /\ M.img.flight # <<>> /\ M.live.issued = 0 => M.live.aloft[1].resolve # <<>>
\* VER-5, law 4: Fire does something exactly if something is due.
FML_1_fire == IsUp => (Advances(StepFire(M).out) <=>
                (UnansweredDue(M) \/ FlightMaxDue(M) \/ ProbeDue(M) \/ HeldDue(M) \/ PendingDue(M) \/ SweepDue(M) <= mono))

(* Properties of steps. A step of the machine is one in which the same process goes on. *)
Goes == proc.up # <<>> /\ proc'.up # <<>>
New == proc'.up[1]

\* VER-1, VER-2: accepted tokens only rise.
VER_2_tokens_rise ==
  [][Goes /\ New.img.high_water # M.img.high_water
     => New.img.high_water # <<>> /\ (M.img.high_water = <<>> \/ New.img.high_water[1] > M.img.high_water[1])]_vars
\* VER-2, VER-5: nonces and high-water move together, with the one hint that the plane was asked about and permitted.
VER_2_only_accepted ==
  [][Goes /\ (New.img.window # M.img.window \/ New.img.high_water # M.img.high_water)
     => /\ M.live.question # <<>> /\ M.live.question[1].about.kind = "fresh"
        /\ New.img.high_water = <<M.live.question[1].about.hint.token>>
        /\ [expires |-> M.live.question[1].about.hint.expires, nonce |-> M.live.question[1].about.hint.nonce]
             \in New.img.window]_vars
\* VER-3: a nonce goes only after its hint has expired, skew included.
VER_3_only_expired_go == [][Goes => \A s \in M.img.window \ New.img.window : s.expires + Skew <= wall]_vars
\* DSP-1: expiry is judged at acceptance, by the wall clock.
DSP_1_not_expired_at_acceptance ==
  [][Goes /\ New.img.high_water # M.img.high_water => wall < M.live.question[1].about.hint.expires]_vars
\* DSP-1, DSP-3: no start before cooldown and back-off are over.
DSP_1_cooldown == [][Goes /\ New.img.attempts # M.img.attempts => mono >= M.live.ready]_vars
DSP_1_cooldown_begins == [][Goes /\ New.img.attempts # M.img.attempts => New.live.ready >= mono + Cooldown]_vars
\* DSP-3: after a definite failure the next start is away by the back-off.
DSP_3_back_off == [][Goes /\ New.img.failures > M.img.failures => New.live.ready >= mono + BackOff(New.img.failures)]_vars
\* DSP-2: one flight follows another only after its end.
DSP_2_single_flight == [][Goes /\ New.img.attempts # M.img.attempts => M.img.flight = <<>>]_vars
DSP_2_attempts_rise == [][Goes => New.img.attempts \in {M.img.attempts, M.img.attempts + 1}]_vars
\* DSP-2: the end of a flight is reported.
DSP_2_end_reported ==
  [][Goes /\ M.img.flight # <<>> /\ New.img.flight = <<>> => Len(proc'.eff) > Len(proc.eff)]_vars
\* DSP-5: an outcome that nobody knows is no end, and no failure.
DSP_5_unknown_stays ==
  [][Goes /\ (\E i \in (Len(proc.eff) + 1)..Len(proc'.eff) :
                proc'.eff[i].kind = "report" /\ proc'.eff[i].report \in {"outcome_outcome_unknown", "outcome_typed_unverified"})
     => New.img.flight # <<>> /\ New.img.failures = M.img.failures]_vars
\* DSP-2: the end of a flight owes a look.
DSP_2_end_owes_look == [][Goes /\ M.img.flight # <<>> /\ New.img.flight = <<>> => New.live.owed]_vars
\* DSP-1: what was accepted is given up for a newer wake, a start, or the plane's word; never for its age.
DSP_1_never_forgotten ==
  [][Goes /\ M.img.pending # <<>> /\ New.img.pending # M.img.pending
     => \/ New.img.pending # <<>> /\ New.img.high_water # M.img.high_water
        \/ New.img.attempts # M.img.attempts
        \/ M.live.question # <<>> /\ M.live.question[1].about.kind = "again" /\ mono < M.live.question[1].until]_vars
\* DSP-2, VER-2: a dispatch leaves with the commit that makes its attempt durable.
DSP_2_durable_first ==
  [][\A i \in DOMAIN proc.eff : proc.eff[i].kind = "dispatch" /\ proc'.staged = 0 /\ proc'.up # <<>>
       => disk'.attempts >= proc.eff[i].attempt]_vars
\* What is on disk never goes back.
FML_1_disk_rises == [][disk'.boot >= disk.boot /\ disk'.attempts >= disk.attempts]_vars
=============================================================================
