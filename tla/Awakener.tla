----------------------------- MODULE Awakener ------------------------------
(* The whole, small: one alert, its plane, one wake daemon, one station.     *)
(* The three machines are those of Mailbox.tla, Waker.tla and Station.tla,   *)
(* and here they have each other as surroundings.                            *)
(*                                                                           *)
(* A step commits at once; a commit that fails is a crash before or after    *)
(* it.  Effects wait in a queue per process and leave in order; a call, its  *)
(* answer and what the caller makes of it are one action, and each call may  *)
(* be lost, with its answer or before it was heard.  One hint is under way   *)
(* at a time; it may be lost, and it may come again.                         *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  \* limits of the machines
  Cooldown, FlightMax, PermitLife, Patience, SweepEvery, BackOffBase, BackOffMax, Skew, NonceHistory,
  AwaitFor, RenewEvery, LookEvery, CleanEvery, AuditWithin, Attempts, TurnsPerHour, TurnsPerDay, TurnsPerBoot, CausalDepth,
  EchoLimit, GrantMax, LeaseLife, ReEmissions, ReEmissionBase, Escalate, MessageAge, HintLife, Queue, Reserve,
  \* bounds of the search
  MaxTime, MaxMints, MaxEpoch, MaxBoot, MaxTurns, MaxIssued,
  \* powers of the adversary
  Crashes,       \* who may crash: subset of {"plane", "daemon", "station"}
  Loses,         \* whether calls and hints may be lost or come again
  Finishes       \* how turns end: subset of {"complete", "unknown"}

VARIABLES
  plane, daemon, station,    \* [up, m]: up or not, and the machine; of one that is down only what is durable counts
  asked, told,               \* effects of daemon and station that wait, in order
  hint,                      \* the hint that is under way
  turn,                      \* the turn that runs outside: <<>> or <<[ticket, turn]>>
  runs,                      \* ghost: complete turns on the alert whose end the station saw; one that ends unseen is no
                             \* observation and is run again (OBS-1, STN-9)
  flights,                   \* ghost: dispatches that reached the station's process: [attempt, fence]
  now
vars == <<plane, daemon, station, asked, told, hint, turn, runs, flights, now>>

NoRights == [rostered |-> TRUE, armed |-> TRUE, open |-> TRUE]
Nothing == <<>>

P == INSTANCE Mailbox WITH disk <- Nothing, proc <- Nothing, rights <- NoRights, wall <- now, mono <- now,
       MaxMessages <- 1, MaxLeases <- 9, MaxPermits <- 9, MaxMono <- 9, MaxWall <- 9, FirstWall <- 0, Backs <- {},
       Rights <- {}, Batch <- 1, MayCrash <- TRUE, Fates <- {}
D == INSTANCE Waker WITH disk <- Nothing, proc <- Nothing, wall <- now, mono <- now, MaxAttempts <- 9, MaxMono <- 9,
       MaxWall <- 9, FirstWall <- 0, Backs <- {}, Aheads <- {}, Batch <- 1, MayCrash <- TRUE, Fates <- {}
S == INSTANCE Station WITH disk <- Nothing, proc <- Nothing, wall <- now, mono <- now, MaxMono <- 9,
       MaxWall <- 9, FirstWall <- 0, Backs <- {}, MayCrash <- TRUE, Fates <- {}

Alert == [id |-> 1, tier |-> 0, content |-> 11, own |-> FALSE, can_ack |-> TRUE, roster |-> "listed"]
Admitted(m) == (CHOOSE s \in {P!StepAdmit(m, Alert)} : TRUE).m

Up(m) == [up |-> TRUE, m |-> m]
NewPlane == P!StepStart(P!Woken([img |-> P!FreshImage, rows |-> P!FreshRows]), 0).m
NewDaemon == D!StepCapability([img |-> [D!FreshImage EXCEPT !.boot = 1], live |-> D!Woken([D!FreshImage EXCEPT !.boot = 1])], "unattended").m
NewStation == S!StepGrant(S!Woken(S!FreshImage), 9, 1).m

Init == /\ now = 0
        /\ plane = Up(Admitted(NewPlane)) /\ daemon = Up(NewDaemon) /\ station = Up(NewStation)
        /\ asked = <<>> /\ told = <<>> /\ hint = <<>> /\ turn = <<>> /\ runs = 0 /\ flights = {}

------------------------------------------------------------------------------
(* Steps of one machine. What is refused or absorbed changes nothing. *)

PlaneSteps(s) == /\ P!Advances(s.out) /\ Cardinality(s.m.rows.mints) <= MaxMints /\ s.m.img.epoch <= MaxEpoch
                 /\ plane' = Up(s.m)
DaemonSteps(s) == /\ D!Advances(s.out) /\ s.m.live.issued <= MaxIssued /\ Len(asked) + Len(s.eff) <= 4
                  /\ daemon' = Up(s.m) /\ asked' = asked \o s.eff
StationSteps(s) == /\ S!Advances(s.out) /\ s.m.live.issued <= MaxIssued /\ Len(s.m.img.turns) <= MaxTurns
                   /\ Len(told) + Len(s.eff) <= 5
                   /\ station' = Up(s.m) /\ told' = told \o s.eff

Number(token) == 100 * token.epoch + token.counter
Signed(e) == [wake |-> e.wake, message |-> e.message, nonce |-> e.wake, token |-> Number(e.token), time |-> e.time,
              expires |-> e.expires, key |-> 1]

(* The plane: a deadline; a minted hint goes out or is lost (EMT-3, EMT-4). *)
PlaneFires(lost) ==
  /\ plane.up
  /\ LET s == P!StepFire(plane.m) IN
     /\ PlaneSteps(s)
     /\ hint' = IF ~lost /\ s.eff # <<>> /\ s.eff[1].kind = "publish" THEN <<Signed(s.eff[1])>> ELSE hint
     /\ lost => Loses /\ s.eff # <<>> /\ s.eff[1].kind = "publish"
  /\ UNCHANGED <<daemon, station, asked, told, turn, runs, flights, now>>

(* The daemon hears a hint, once or again. *)
HintComes(again) ==
  /\ hint # <<>> /\ daemon.up /\ asked = <<>> /\ (again => Loses)
  /\ DaemonSteps(D!StepHint(daemon.m, hint[1]))
  /\ hint' = IF again THEN hint ELSE <<>>
  /\ UNCHANGED <<plane, station, told, turn, runs, flights, now>>
HintLost == Loses /\ hint # <<>> /\ hint' = <<>> /\ UNCHANGED <<plane, daemon, station, asked, told, turn, runs, flights, now>>

DaemonFires ==
  /\ daemon.up /\ asked = <<>> /\ DaemonSteps(D!StepFire(daemon.m))
  /\ UNCHANGED <<plane, station, told, hint, turn, runs, flights, now>>

(* The first effect of the daemon is carried out. *)
Asks(kind) == daemon.up /\ asked # <<>> /\ asked[1].kind = kind
\* What is left of the queue, and what a completion adds to it.
DaemonHears(s) == IF D!Advances(s.out)
                  THEN /\ s.m.live.issued <= MaxIssued /\ daemon' = Up(s.m) /\ asked' = Tail(asked) \o s.eff
                  ELSE UNCHANGED daemon /\ asked' = Tail(asked)
Question(q) == [q EXCEPT !.token = [epoch |-> q.token \div 100, counter |-> q.token % 100]]
ClassOf(out) == CASE out = "withheld_unminted" -> "unminted"
             [] out = "withheld_authority_withdrawn" -> "authority_withdrawn"
             [] out = "withheld_not_armed" -> "not_armed"
             [] out = "withheld_not_outstanding" -> "not_outstanding"
             [] out = "withheld_permit_held" -> "permit_held"

DaemonAsks ==
  /\ Asks("ask") /\ plane.up
  /\ LET a == P!StepAsk(plane.m, "east", Question(asked[1].question))
         answer == IF a.out = "permitted" THEN [kind |-> "granted", fence |-> a.m.img.permit[1].fence]
                   ELSE [kind |-> "withheld", class |-> ClassOf(a.out)]
     IN /\ plane' = Up(a.m) /\ DaemonHears(D!StepAnswer(daemon.m, asked[1].ticket, answer))
  /\ UNCHANGED <<station, told, hint, turn, runs, flights, now>>
\* The plane cannot be reached, or has answered in vain.
DaemonAsksInVain(heard) ==
  /\ Asks("ask") /\ (~plane.up \/ Loses) /\ (heard => plane.up)
  /\ plane' = IF heard THEN Up(P!StepAsk(plane.m, "east", Question(asked[1].question)).m) ELSE plane
  /\ DaemonHears(D!StepAskFailed(daemon.m, asked[1].ticket))
  /\ UNCHANGED <<station, told, hint, turn, runs, flights, now>>

ReportOf(r) == CASE r = "attempted" -> "attempted"
                 [] r = "ended_process_ended" -> "process_ended" [] r = "ended_work_finished" -> "work_finished"
                 [] r = "ended_idle" -> "idle" [] r = "ended_expired" -> "expired"
                 [] r = "ended_never_started" -> "never_started" [] OTHER -> "outcome"
(* DSP-7: the report of the attempt must be taken before the dispatch leaves; a dispatch behind a refused one is given up
   by the driver as not attempted. *)
DaemonReports ==
  /\ Asks("report") /\ plane.up
  /\ LET r == ReportOf(asked[1].report)
         s == IF r = "outcome" THEN [out |-> "absorbed", m |-> plane.m]
              ELSE P!StepReport(plane.m, "east", asked[1].fence, asked[1].wake, r)
         refused == r = "attempted" /\ s.out \notin {"reported", "absorbed"}
     IN /\ plane' = Up(s.m)
        /\ IF refused /\ Len(asked) > 1 /\ asked[2].kind = "dispatch"
           THEN LET d == D!StepDispatched(daemon.m, asked[2].ticket, "not_attempted")
                IN daemon' = Up(d.m) /\ asked' = Tail(Tail(asked)) \o d.eff
           ELSE asked' = Tail(asked) /\ UNCHANGED daemon
  /\ UNCHANGED <<station, told, hint, turn, runs, flights, now>>

(* The dispatch reaches the station's process, and the adapter says so; or it does not; or nobody can tell. *)
DaemonDispatches(how) ==
  /\ Asks("dispatch")
  /\ LET e == asked[1]
         late == now >= e.until
         s == S!StepHint(station.m)
         arrives == station.up /\ ~late /\ how \in {"told", "unsure"}
         outcome == IF late THEN "not_attempted" ELSE IF ~station.up THEN "unavailable"
                    ELSE IF how = "told" THEN "notified_verified" ELSE "outcome_unknown"
     IN /\ (how # "told" => Loses)
        /\ IF arrives /\ S!Advances(s.out) THEN StationSteps(s) ELSE UNCHANGED <<station, told>>
        /\ flights' = IF arrives THEN flights \cup {[attempt |-> e.attempt, fence |-> e.fence]} ELSE flights
        /\ DaemonHears(D!StepDispatched(daemon.m, e.ticket, outcome))
  /\ UNCHANGED <<plane, hint, turn, runs, now>>

Busy == station.up /\ station.m.live.phase.name \notin {"dark", "armed"}
DaemonProbes ==
  /\ Asks("probe")
  /\ DaemonHears(D!StepProbed(daemon.m, asked[1].ticket, IF Busy THEN "alive" ELSE "gone"))
  /\ UNCHANGED <<plane, station, told, hint, turn, runs, flights, now>>

(* DSP-11: a sweep brings a fresh hint, or nothing, or is lost. *)
DaemonSweeps ==
  /\ Asks("sweep") /\ plane.up
  /\ LET s == P!StepSweep(plane.m)
         w == P!Oldest(P!Workable(plane.m.img))
     IN IF s.out = "swept" THEN /\ Cardinality(s.m.rows.mints) <= MaxMints /\ plane' = Up(s.m) /\ hint' = <<Signed(P!Publish(plane.m, w))>>
        ELSE UNCHANGED <<plane, hint>>
  /\ DaemonHears(D!StepSwept(daemon.m, asked[1].ticket))
  /\ UNCHANGED <<station, told, turn, runs, flights, now>>
DaemonSweepsInVain ==
  /\ Asks("sweep") /\ (~plane.up \/ Loses)
  /\ DaemonHears(D!StepAskFailed(daemon.m, asked[1].ticket))
  /\ UNCHANGED <<plane, station, told, hint, turn, runs, flights, now>>
DaemonTells == Asks("tell_operator") /\ asked' = Tail(asked) /\ UNCHANGED <<plane, daemon, station, told, hint, turn, runs, flights, now>>

(* What the daemon hears of its flight by itself: a read, and that the runtime is idle again. *)
FlightIsRead ==
  /\ daemon.up /\ asked = <<>> /\ daemon.m.img.flight # <<>> /\ plane.up /\ plane.m.img.permit # <<>> /\ plane.m.img.permit[1].read
  /\ DaemonSteps(D!StepInboxRead(daemon.m, daemon.m.img.flight[1].attempt))
  /\ UNCHANGED <<plane, station, told, hint, turn, runs, flights, now>>
FlightIsOver ==
  /\ daemon.up /\ asked = <<>> /\ daemon.m.img.flight # <<>> /\ (\E f \in flights : f.attempt = daemon.m.img.flight[1].attempt) /\ ~Busy /\ told = <<>>
  /\ DaemonSteps(D!StepFlightEnded(daemon.m, daemon.m.img.flight[1].attempt, "idle"))
  /\ UNCHANGED <<plane, station, told, hint, turn, runs, flights, now>>

------------------------------------------------------------------------------
(* The station. *)

StationFires ==
  /\ station.up /\ told = <<>> /\ StationSteps(S!StepFire(station.m))
  /\ UNCHANGED <<plane, daemon, asked, hint, turn, runs, flights, now>>

Says(kind) == station.up /\ told # <<>> /\ told[1].kind = kind
StationHears(t, c) ==
  LET s == S!StepCompletion(station.m, t, c) IN
  IF S!Advances(s.out)
  THEN /\ s.m.live.issued <= MaxIssued /\ Len(s.m.img.turns) <= MaxTurns
       /\ station' = Up(s.m) /\ told' = Tail(told) \o s.eff
  ELSE UNCHANGED station /\ told' = Tail(told)

StationReads ==
  /\ Says("read_inbox")
  /\ StationHears(told[1].ticket, [kind |-> IF plane.up THEN "inbox_read" ELSE "dispatch_failed"])
  /\ UNCHANGED <<plane, daemon, asked, hint, turn, runs, flights, now>>

(* Claim one message and read it (INB-7, INB-8). *)
Prior(row) == IF row.response # <<>> /\ \E e \in row.ended : e.turn = row.response[1].turn /\ e.finish = "complete"
              THEN << [turn |-> row.response[1].turn, response |-> row.response[1].response] >> ELSE <<>>
StationClaims ==
  /\ Says("claim") /\ plane.up
  /\ LET skipped == 1 \in told[1].skip
         c == P!StepClaim(plane.m, "station", 1)
         has == ~skipped /\ c.out \in {"leased", "absorbed"}
         r == P!StepRead(c.m, c.m.img.lease_fence, 1)
         row == P!The(P!Row(plane.m, 1))
         work == [message |-> 1, seq |-> 1, tier |-> 0, content |-> 11, fence |-> c.m.img.lease_fence, released |-> row.released,
                  prior |-> Prior(row), own |-> FALSE, depth |-> 1, normal |-> 21, ancestry |-> <<>>]
     IN /\ plane' = IF has THEN Up(r.m) ELSE plane
        /\ StationHears(told[1].ticket, [kind |-> "claimed", turn |-> 10 * station.m.img.epoch + station.m.live.issued,
                                         lane |-> "mapped", work |-> IF has THEN <<work>> ELSE <<>>])
  /\ UNCHANGED <<daemon, asked, hint, turn, runs, flights, now>>

(* Calls whose answer is no input: they are made, or lost. *)
StationCalls(lost) ==
  /\ told # <<>> /\ station.up /\ told[1].kind \in {"renew", "report_turn", "release"} /\ (lost => Loses \/ ~plane.up) /\ (~lost => plane.up)
  /\ LET e == told[1]
         s == CASE e.kind = "renew" -> P!StepRenew(plane.m, e.fence)
                [] e.kind = "report_turn" -> P!StepFinishTurn(plane.m, e.fence, 1, e.turn.turn, e.finish)
                [] e.kind = "release" -> P!StepRelease(plane.m, plane.m.img.lease_fence)
     IN /\ plane' = IF lost THEN plane ELSE Up(s.m)
        /\ IF e.kind = "renew" /\ ~lost /\ s.out = "refused_lost_lease"
           THEN LET l == S!StepLeaseLost(station.m, e.fence) IN station' = Up(l.m) /\ told' = Tail(told) \o l.eff
           ELSE UNCHANGED station /\ told' = Tail(told)
  /\ UNCHANGED <<daemon, asked, hint, turn, runs, flights, now>>

StationStarts ==
  /\ Says("start_turn") /\ turn' = << [ticket |-> told[1].ticket] >> /\ told' = Tail(told)
  /\ UNCHANGED <<plane, daemon, station, asked, hint, runs, flights, now>>
Reply == <<[response |-> "reply", outcome |-> "handled"]>>
TurnEnds(finish) ==
  /\ turn # <<>> /\ finish \in Finishes /\ station.up /\ told = <<>>
  /\ LET s == S!StepCompletion(station.m, turn[1].ticket, [kind |-> "turn_finished", finish |-> finish,
                                                           answer |-> IF finish = "complete" THEN Reply ELSE <<>>])
     IN /\ IF S!Advances(s.out) THEN StationSteps(s) ELSE UNCHANGED <<station, told>>
        /\ runs' = IF finish = "complete" /\ S!Advances(s.out) THEN runs + 1 ELSE runs
  /\ turn' = <<>>
  /\ UNCHANGED <<plane, daemon, asked, hint, flights, now>>

(* Result, then ACK (STN-6); the answer may be lost after it was heard. *)
StationRecords(lost) ==
  /\ Says("record_result") /\ plane.up /\ (lost => Loses)
  /\ LET e == told[1]
         s == P!StepRespond(plane.m, e.fence, 1, e.turn.turn, e.response)
     IN /\ plane' = Up(s.m)
        /\ IF lost THEN UNCHANGED station /\ told' = Tail(told)
           ELSE StationHears(e.ticket, [kind |-> IF s.out \in {"responded", "absorbed"} THEN "result_recorded" ELSE "result_refused"])
  /\ UNCHANGED <<daemon, asked, hint, turn, runs, flights, now>>
StationAcks(lost) ==
  /\ Says("send_ack") /\ plane.up /\ (lost => Loses)
  /\ LET e == told[1]
         ack == [id |-> 1, content |-> e.content, outcome |-> e.outcome, by |-> "station", ahead |-> 0, key |-> "valid",
                 signature |-> TRUE, target |-> TRUE]
         s == P!StepAck(plane.m, ack, <<e.fence>>)
     IN /\ plane' = Up(s.m)
        /\ IF lost THEN UNCHANGED station /\ told' = Tail(told)
           ELSE StationHears(e.ticket, [kind |-> IF s.out \in {"acknowledged", "absorbed"} THEN "ack_accepted" ELSE "ack_refused"])
  /\ UNCHANGED <<daemon, asked, hint, turn, runs, flights, now>>
\* STN-9: what still runs is stopped, the lease is released.
StationCleans ==
  /\ Says("clean_up") /\ plane.up
  /\ LET e == told[1]
         s == IF e.of = <<>> THEN [m |-> plane.m] ELSE P!StepRelease(plane.m, e.of[1].fence)
     IN plane' = Up(s.m) /\ StationHears(e.ticket, [kind |-> "cleanup_done"])
  /\ turn' = <<>>
  /\ UNCHANGED <<daemon, asked, hint, runs, flights, now>>
\* LSN-1: an idle station looks by itself, and finds what is open and not skipped.
StationPolls ==
  /\ Says("poll")
  /\ LET s == S!StepWorkFound(station.m)
         found == plane.up /\ 1 \notin told[1].skip /\ P!The(P!Row(plane.m, 1)).finished = <<>>
     IN IF found /\ S!Advances(s.out) THEN s.m.live.issued <= MaxIssued /\ station' = Up(s.m) /\ told' = Tail(told) \o s.eff
        ELSE UNCHANGED station /\ told' = Tail(told)
  /\ UNCHANGED <<plane, daemon, asked, hint, turn, runs, flights, now>>
StationTells ==
  /\ told # <<>> /\ station.up /\ told[1].kind \in {"tell_operator"} /\ told' = Tail(told)
  /\ UNCHANGED <<plane, daemon, station, asked, hint, turn, runs, flights, now>>

------------------------------------------------------------------------------
(* Crashes, and time. *)

PlaneCrashes == "plane" \in Crashes /\ plane.up /\ plane' = [up |-> FALSE, m |-> [plane.m EXCEPT !.live = P!Woken([img |-> P!FreshImage, rows |-> P!FreshRows]).live]]
                /\ UNCHANGED <<daemon, station, asked, told, hint, turn, runs, flights, now>>
PlaneBoots == /\ ~plane.up
              /\ LET s == P!StepStart(P!Woken([img |-> plane.m.img, rows |-> plane.m.rows]), 0)
                 IN s.m.img.epoch <= MaxEpoch /\ plane' = Up(s.m)
              /\ UNCHANGED <<daemon, station, asked, told, hint, turn, runs, flights, now>>
DaemonCrashes == "daemon" \in Crashes /\ daemon.up /\ daemon' = [up |-> FALSE, m |-> [daemon.m EXCEPT !.live.question = <<>>, !.live.sweep = <<>>, !.live.aloft = <<>>, !.live.owed = FALSE, !.live.issued = 0,
                                              !.live.sweep_at = 0, !.live.ready = 0, !.live.retry = 0]] /\ asked' = <<>>
                 /\ UNCHANGED <<plane, station, told, hint, turn, runs, flights, now>>
DaemonBoots == /\ ~daemon.up /\ daemon.m.img.boot < MaxBoot
               /\ LET img == [daemon.m.img EXCEPT !.boot = @ + 1]
                  IN daemon' = Up(D!StepCapability([img |-> img, live |-> D!Woken(img)], "unattended").m)
               /\ UNCHANGED <<plane, station, asked, told, hint, turn, runs, flights, now>>
\* A turn may outlive the process that started it; cleanup stops it.
StationCrashes == "station" \in Crashes /\ station.up /\ station' = [up |-> FALSE, m |-> [station.m EXCEPT !.live = [phase |-> S!Dark, issued |-> 0, grant_ends |-> <<>>, rests |-> {}, cleaning |-> <<>>]]] /\ told' = <<>>
                  /\ UNCHANGED <<plane, daemon, asked, hint, turn, runs, flights, now>>
StationBoots == /\ ~station.up /\ station.m.img.epoch < MaxBoot /\ station' = Up(S!Woken(station.m.img))
                /\ UNCHANGED <<plane, daemon, asked, told, hint, turn, runs, flights, now>>
Tick == now < MaxTime /\ now' = now + 1 /\ UNCHANGED <<plane, daemon, station, asked, told, hint, turn, runs, flights>>

------------------------------------------------------------------------------
(* What holds *)

Alert1 == P!The(P!Row(plane.m, 1))
Closed == Alert1.closed # <<>>

TypeOK == now \in 0..MaxTime /\ runs \in 0..9 /\ Len(asked) <= 5 /\ Len(told) <= 6
\* ACK-2, INB-4: the cursor passes the alert exactly if it is closed.
ACK_2_barrier == (plane.m.img.cursor = 1) <=> Closed
\* ACK-3, ACK-5, OBS-1: closed by the station's ACK after a complete turn that was really run, and its result.
ACK_5_observed == Closed => runs > 0 /\ Alert1.closed[1].by = "station" /\ Alert1.response # <<>>
\* STN-6: no complete turn is repeated.
STN_6_once == runs <= 1
\* DSP-2, DSP-7: nothing reaches the station but an attempt that is on the daemon's disk, and of which the plane has heard.
DSP_7_on_disk == \A f \in flights : f.attempt <= daemon.m.img.attempts
DSP_7_heard == \A f \in flights : \E t \in plane.m.rows.told : t.fence = f.fence /\ t.fact = "attempted"
\* DSP-7: one dispatch for a permit.
DSP_7_once == \A f, g \in flights : f.fence = g.fence => f = g
\* INB-7: the station works only under a lease that it holds, or whose loss it has yet to hear of.
INB_7_fence == station.up /\ station.m.live.phase.name = "cognizing" => station.m.live.phase.pass.fence <= plane.m.img.lease_fence
\* STN-3: what the station calls closed is closed.
STN_3_synced == station.up /\ station.m.live.phase.name = "synced" => Closed
\* EMT-1: tokens of hints that left were allocated before.
EMT_1_allocated == hint # <<>> => \E k \in plane.m.rows.mints : k.wake = hint[1].wake /\ Number(k.token) = hint[1].token
\* DSP-7: a dispatch leaves under a permit that the plane has given out.
DSP_7_permitted == \A i \in DOMAIN asked : asked[i].kind = "dispatch" => asked[i].fence <= plane.m.img.permit_fence
=============================================================================
