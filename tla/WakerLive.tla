----------------------------- MODULE WakerLive -----------------------------
(* The waker of Waker.tla without end: nothing is counted, time has no       *)
(* origin, and what only grows is renamed, so that the graph has cycles and  *)
(* liveness has something to bite on.  The machine is the same operators.    *)
(*                                                                           *)
(* One step is one transaction.  What was asked for may be answered at any   *)
(* moment while it is awaited, or never; crashes, failures of the plane and  *)
(* fresh hints come as often as the adversary likes, until Calm.             *)
EXTENDS Waker

CONSTANTS
  Crashes,   \* whether the process crashes
  Fails,     \* whether the plane cannot be reached, or holds permits back
  Outcomes,  \* what adapters answer
  Probes,    \* what probes find
  Reads      \* whether work is read under a flight

VARIABLES
  calm,    \* from here on nothing crashes, and the plane can be reached
  looked   \* whether a sweep was answered since the last recovery

live_vars == <<disk, proc, wall, mono, calm, looked>>

Base == 6          \* both clocks always show this; instants are kept relative to it
Far == Base + 9    \* a regular sweep, which never comes: it must not be what saves a forgotten wake
Past(x, length) == Max(x, Minus(Base, length))

------------------------------------------------------------------------------
(* One state for all that differ in the origin of time and in names only. *)

RankIn(window, s) == Cardinality({t \in window : Older(t, s)})
CanonImage(img) ==
  [boot       |-> 1,
   window     |-> {[expires |-> Past(s.expires, Skew), nonce |-> RankIn(img.window, s)] : s \in img.window},
   high_water |-> IF img.high_water = <<>> THEN <<>> ELSE <<1>>,
   pending    |-> IF img.pending = <<>> THEN <<>> ELSE << [wake |-> 1, message |-> 1, token |-> 1] >>,
   flight     |-> IF img.flight = <<>> THEN <<>>
                  ELSE << [img.flight[1] EXCEPT !.attempt = 1, !.wake = 2, !.started = Past(@, FlightMax)] >>,
   attempts   |-> IF img.flight = <<>> THEN 0 ELSE 1,
   last_start |-> IF img.last_start = <<>> THEN <<>> ELSE <<Past(img.last_start[1], Max(Cooldown, BackOffMax))>>,
   failures   |-> Min(img.failures, 2)]

Named(n) == [boot |-> 1, number |-> n]
CanonQuestion(q, img) ==
  [about |-> IF q.about.kind = "fresh" THEN q.about ELSE [kind |-> "again", question |-> [wake |-> 1, message |-> 1, token |-> 1]],
   out   |-> IF q.out = <<>> THEN <<>> ELSE << [ticket |-> Named(1), at |-> Past(q.out[1].at, PermitLife)] >>,
   until |-> Past(q.until, 0)]
CanonAloft(a) ==
  [until    |-> Past(a.until, 0),
   dispatch |-> IF a.dispatch = <<>> THEN <<>> ELSE <<Named(3)>>,
   resolve  |-> IF a.resolve = <<>> THEN <<>>
                ELSE IF "at" \in DOMAIN a.resolve[1] THEN << [at |-> Past(a.resolve[1].at, 0)] >> ELSE << [out |-> Named(3)] >>]
Canon(m) ==
  [img  |-> CanonImage(m.img),
   live |-> [m.live EXCEPT
     !.issued = 0,
     !.question = IF @ = <<>> THEN <<>> ELSE <<CanonQuestion(@[1], m.img)>>,
     !.sweep = IF @ = <<>> THEN <<>> ELSE <<Named(2)>>,
     !.sweep_at = IF @ > Base + 4 THEN Far ELSE Past(@, 0),
     !.ready = Past(@, 0), !.retry = Past(@, 0),
     !.aloft = IF @ = <<>> THEN <<>> ELSE <<CanonAloft(@[1])>>]]

\* A millisecond passes: every instant lies one further back.
Ago(x) == Minus(x, 1)
AgoImage(img) ==
  [img EXCEPT !.window = {[s EXCEPT !.expires = Ago(@)] : s \in @},
              !.flight = IF @ = <<>> THEN <<>> ELSE << [@[1] EXCEPT !.started = Ago(@)] >>,
              !.last_start = IF @ = <<>> THEN <<>> ELSE <<Ago(@[1])>>]
AgoQuestion(q) ==
  [about |-> IF q.about.kind = "fresh" THEN [q.about EXCEPT !.hint.expires = Ago(@)] ELSE q.about,
   out   |-> IF q.out = <<>> THEN <<>> ELSE << [q.out[1] EXCEPT !.at = Ago(@)] >>,
   until |-> Ago(q.until)]
AgoAloft(a) ==
  [a EXCEPT !.until = Ago(@),
            !.resolve = IF @ # <<>> /\ "at" \in DOMAIN @[1] THEN << [at |-> Ago(@[1].at)] >> ELSE @]
AgoMachine(m) ==
  [img  |-> AgoImage(m.img),
   live |-> [m.live EXCEPT !.question = IF @ = <<>> THEN <<>> ELSE <<AgoQuestion(@[1])>>,
                           !.sweep_at = IF @ = Far THEN Far ELSE Ago(@), !.ready = Ago(@), !.retry = Ago(@),
                           !.aloft = IF @ = <<>> THEN <<>> ELSE <<AgoAloft(@[1])>>]]

------------------------------------------------------------------------------
LiveInit == /\ disk = CanonImage(FreshImage) /\ proc = Down /\ wall = Base /\ mono = Base
            /\ calm = FALSE /\ looked = FALSE

Becomes(m) ==
  LET c == Canon(m) IN
  /\ disk' = c.img /\ proc' = [up |-> <<c>>, staged |-> 0, eff |-> <<>>]
  /\ UNCHANGED <<wall, mono, calm>>
\* One step, in its own transaction; it must advance.
Does(s) == Advances(s.out) /\ Becomes(s.m)

FreshHint == [wake |-> 3, message |-> 1, nonce |-> 9, token |-> 2, time |-> Base, expires |-> Base + 1, key |-> 1]
Grant == [kind |-> "granted", fence |-> 7]
Withhold(class) == [kind |-> "withheld", class |-> class]
IsDue == UnansweredDue(M) \/ FlightMaxDue(M) \/ ProbeDue(M) \/ HeldDue(M) \/ PendingDue(M) \/ SweepDue(M) <= mono

LBoot  == /\ ~IsUp
          /\ LET img == [disk EXCEPT !.boot = 1]
             IN  Becomes([img |-> img, live |-> [Woken(img) EXCEPT !.capability = "unattended"]])
          /\ looked' = FALSE
LCrash == Crashes /\ IsUp /\ ~calm /\ proc' = Down /\ UNCHANGED <<disk, wall, mono, calm, looked>>
LCalm  == ~calm /\ calm' = TRUE /\ UNCHANGED <<disk, proc, wall, mono, looked>>
LTick  == \/ /\ IsUp /\ ~IsDue /\ Becomes(AgoMachine(M)) /\ UNCHANGED looked
          \/ /\ ~IsUp /\ disk' = CanonImage(AgoImage(disk)) /\ UNCHANGED <<proc, wall, mono, calm, looked>>

LHint == IsUp /\ Does(StepHint(M, FreshHint)) /\ UNCHANGED looked
\* The plane's word on a hint, and on a start that was put off.
IsOut(kind) == IsUp /\ M.live.question # <<>> /\ M.live.question[1].out # <<>> /\ M.live.question[1].about.kind = kind
LFreshGranted   == IsOut("fresh") /\ Does(StepAnswer(M, Named(1), Grant)) /\ UNCHANGED looked
LFreshWithheld  == IsOut("fresh") /\ Does(StepAnswer(M, Named(1), Withhold("not_outstanding"))) /\ UNCHANGED looked
LAgainGranted   == IsOut("again") /\ mono < M.live.question[1].until /\ Does(StepAnswer(M, Named(1), Grant)) /\ UNCHANGED looked
LAgainWithheld  == IsOut("again") /\ mono < M.live.question[1].until
                   /\ Does(StepAnswer(M, Named(1), Withhold("not_outstanding"))) /\ UNCHANGED looked
LAgainHeld      == Fails /\ IsOut("again") /\ ~calm /\ Does(StepAnswer(M, Named(1), Withhold("permit_held"))) /\ UNCHANGED looked
LAskFailed      == Fails /\ IsUp /\ ~calm /\ Does(StepAskFailed(M, Named(1))) /\ UNCHANGED looked
LSweepFailed    == Fails /\ IsUp /\ ~calm /\ Does(StepAskFailed(M, Named(2))) /\ UNCHANGED looked
LSwept          == IsUp /\ Does(StepSwept(M, Named(2))) /\ looked' = TRUE
LDispatched == IsUp /\ \E o \in Outcomes :
                 Does(StepDispatched(M, Named(3), o)) /\ UNCHANGED looked
LProbed     == IsUp /\ \E f \in Probes : Does(StepProbed(M, Named(3), f)) /\ UNCHANGED looked
LEnded      == IsUp /\ Does(StepFlightEnded(M, 1, "process_ended")) /\ UNCHANGED looked
LRead       == Reads /\ IsUp /\ Does(StepInboxRead(M, 1)) /\ UNCHANGED looked
Fires(outs) == IsUp /\ StepFire(M).out \in outs /\ Does(StepFire(M)) /\ UNCHANGED looked
LFireAsked    == Fires({"asked"})
LFireSweeping == Fires({"sweeping"})
LFireEnds     == Fires({"withheld_unanswered", "ask_failed", "flight_ended", "probing"})

LiveNext == \/ LBoot \/ LCrash \/ LCalm \/ LTick \/ LHint \/ LFreshGranted \/ LFreshWithheld \/ LAgainGranted
            \/ LAgainWithheld \/ LAgainHeld \/ LAskFailed \/ LSweepFailed \/ LSwept \/ LDispatched \/ LProbed
            \/ LEnded \/ LRead \/ LFireAsked \/ LFireSweeping \/ LFireEnds

(* Fairness: none of it is on the adversary. *)
F_calm    == WF_live_vars(LCalm)                              \* crashes and failures end some time
F_time    == SF_live_vars(LTick)                              \* no adversary stops a clock
F_boot    == SF_live_vars(LBoot)                              \* a supervisor starts the daemon again
F_asks    == SF_live_vars(LFireAsked)                         \* the driver fires what is due
F_looks   == SF_live_vars(LFireSweeping)
F_ends    == SF_live_vars(LFireEnds)
F_permits == SF_live_vars(LAgainGranted \/ LAgainWithheld)    \* the plane answers in time about a start that waits, some time
F_sweep   == SF_live_vars(LSwept)                             \* and sweeps

(* DSP_1: a cooldown ends in its pending dispatch, unless the plane withdraws it. *)
DSP_1_started == (IsUp /\ M.img.pending # <<>>) ~> (disk.pending = <<>>)
(* DSP_2: a flight ends, whatever the adapter says or does not say. *)
DSP_2_flight_ends == (disk.flight # <<>>) ~> (disk.flight = <<>>)
(* DSP_11: after every recovery a look follows. *)
DSP_11_looked == (IsUp /\ ~looked) ~> looked
=============================================================================
