------------------------------ MODULE Station ------------------------------
(* The station of one target: from a hint or a poll to a recorded result and *)
(* an ACK, one piece of work at a time.  Written from spec/ (rules STN, OBS, *)
(* FUS, ACK, machines/station.toml) and not from the kernel.  The shape is   *)
(* that of Waker.tla: the machine, the process around it, what must hold; no *)
(* surroundings, every input in every state.                                 *)
(*                                                                           *)
(* An option is <<>> or <<value>>.  Maps are sets of records with a key.     *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  AwaitFor,      \* how long WAKING, READING and ACKING wait for an answer
  FlightMax,     \* how long a turn may last
  RenewEvery,    \* the middle of a lease's life
  LookEvery,     \* how often an idle station looks by itself
  CleanEvery,    \* when a cleanup is asked for again
  AuditWithin,   \* FUS-4: how long a trip waits for its audit record, and for the latch file
  BackOffBase, BackOffMax,   \* STN-9
  Attempts,      \* STN-9, INB-8
  TurnsPerHour, TurnsPerDay, TurnsPerBoot, CausalDepth, EchoLimit,   \* FUS-1
  GrantMax       \* STN-2

CONSTANTS        \* bounds of the search
  MaxEpoch, MaxIssued, MaxTurns, MaxMono, MaxWall, FirstWall, Backs, MayCrash, Fates

VARIABLES disk, proc, wall, mono
vars == <<disk, proc, wall, mono>>

------------------------------------------------------------------------------
(* 1. The machine *)

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b
Minus(a, b) == IF a > b THEN a - b ELSE 0

FreshImage == [epoch |-> 0, grant |-> <<>>, turns |-> <<>>, boot |-> 0, echo |-> <<>>,
               latch |-> <<>>, turn |-> <<>>, progress |-> {}, tail |-> <<>>]

BackOff(failures) == IF failures = 0 THEN 0 ELSE Min(BackOffBase * 2 ^ (failures - 1), BackOffMax)

Still(m, out) == [out |-> out, m |-> m, eff |-> <<>>]
Moved(m, out, eff) == [out |-> out, m |-> m, eff |-> eff]

Phase(m) == m.live.phase.name
Active == {"armed", "waking", "reading", "cognizing", "acking", "synced"}
WhyNot(phase) == IF phase = "dark" THEN "refused_not_armed"
                 ELSE IF phase = "latched_down" THEN "refused_latched" ELSE "refused_out_of_phase"

Granted(m) == m.img.grant # <<>> /\ wall < m.img.grant[1].until
OwesCleanup(m) == m.live.cleaning # <<>>

Ticket(m, n) == [epoch |-> m.img.epoch, number |-> m.live.issued + n]
Issue(m) == [m EXCEPT !.live.issued = @ + 1]

Of(set, message) == {p \in set : p.message = message}
The(set) == CHOOSE p \in set : TRUE
Without(set, message) == {p \in set : p.message # message}

(* STN-9: work that rests, and work whose attempts are used up. *)
Spent(img, message) ==
  \E p \in img.progress : p.message = message /\ p.failures >= Attempts /\ p.finished = <<>>
Rests(m, message) == \E r \in m.live.rests : r.message = message /\ mono < r.until
Skip(m) == {p.message : p \in {q \in m.img.progress : Spent(m.img, q.message)}}
           \cup {r.message : r \in {q \in m.live.rests : mono < q.until}}

(* To ARMED: the inbox is looked at after `wait`, or when the first rest ends. *)
Arm(m, wait) ==
  LET ends == {r.until : r \in {q \in m.live.rests : mono < q.until}} \cup {mono + wait}
  IN  [m EXCEPT !.live.phase = [name |-> "armed", look |-> CHOOSE e \in ends : \A f \in ends : e <= f]]

(* A pass did not close its message: it rests, longer each time. *)
Fail(m, message) ==
  LET old == IF Of(m.img.progress, message) = {}
             THEN [message |-> message, failures |-> 0, rests_until |-> 0, touched |-> wall, released |-> 0, finished |-> <<>>]
             ELSE The(Of(m.img.progress, message))
      n == old.failures + 1
      new == [old EXCEPT !.failures = n, !.rests_until = wall + BackOff(n), !.touched = wall]
  IN  [m EXCEPT !.img.progress = Without(@, message) \cup {new},
                !.live.rests = Without(@, message) \cup {[message |-> message, until |-> mono + BackOff(n)]}]

(* Asks for the cleanup of a pass, now and again until it is done. *)
CleanOf(m) == IF m.img.turn = <<>> THEN <<>> ELSE << [turn |-> m.img.turn[1].turn, fence |-> m.img.turn[1].fence] >>
Clean(m) == [Issue(m) EXCEPT !.live.cleaning = << [ticket |-> Ticket(m, 1), again |-> mono + CleanEvery] >>]
CleanUp(m) == [kind |-> "clean_up", ticket |-> Ticket(m, 1), of |-> CleanOf(m)]

TurnEnds(m, finish) == [m EXCEPT !.img.turn[1].finish = <<finish>>]
ReportTurn(pass, finish) == [kind |-> "report_turn", turn |-> pass.turn, fence |-> pass.fence, finish |-> finish]
Release(ticket) == [kind |-> "release", ticket |-> ticket]
Tell(alarm, about) == [kind |-> "tell_operator", alarm |-> alarm, about |-> about]

(* COGNIZING→ARMED, whatever the reason (STN-3, STN-9). *)
PassFails(m, pass, finish, extra) ==
  LET ended == Fail(TurnEnds(m, finish), pass.turn.message)
  IN  Moved(Arm(Clean(ended), LookEvery), "turn_finished_" \o finish,
            <<ReportTurn(pass, finish)>> \o extra \o <<CleanUp(ended)>>)

(* Leaves whatever is under way, for DARK, REFUSED or LATCHED_DOWN. A complete turn stays to be resumed. *)
Abandon(m) ==
  LET p == m.live.phase IN
  IF p.name = "reading" THEN [m |-> m, eff |-> <<Release(p.ticket)>>]
  ELSE IF p.name = "cognizing" THEN
    LET ended == Fail(TurnEnds(m, "cancelled"), p.pass.turn.message)
    IN  [m |-> Clean(ended), eff |-> <<ReportTurn(p.pass, "cancelled"), CleanUp(ended)>>]
  ELSE IF p.name = "acking" /\ ~OwesCleanup(m) THEN [m |-> Clean(m), eff |-> <<CleanUp(m)>>]
  ELSE [m |-> m, eff |-> <<>>]

GoTo(m, phase) == [m EXCEPT !.live.phase = phase]
Dark == [name |-> "dark"]

(* STN-3: to DARK from every phase; a latched station keeps its latch. *)
EndGrant(m, end) ==
  IF m.img.grant = <<>> THEN Still(m, "absorbed")
  ELSE LET left == Abandon(m)
           over == [left.m EXCEPT !.img.grant = <<>>, !.live.grant_ends = <<>>]
       IN  Moved(IF Phase(m) = "latched_down" THEN over ELSE GoTo(over, Dark), "grant_ended_" \o end, left.eff)

StepGrant(m, until, command) ==
  LET grant == [until |-> until, command |-> command]
      held == [m EXCEPT !.img.grant = <<grant>>, !.live.grant_ends = <<mono + Minus(until, wall)>>]
  IN  IF Phase(m) = "latched_down" THEN Still(m, "refused_latched")
      ELSE IF until <= wall THEN Still(m, "refused_not_armed")
      ELSE IF until > wall + GrantMax THEN Still(m, "refused_operator_bound_exceeded")
      ELSE IF m.img.grant = <<grant>> THEN Still(m, "absorbed")
      ELSE IF Phase(m) = "dark" THEN Moved(Arm(held, 0), "granted", <<>>)
      ELSE Moved(held, "granted", <<>>)

StepMarkTail(m, tail) ==
  IF Phase(m) = "latched_down" THEN Still(m, "refused_latched")
  ELSE IF Phase(m) \notin {"dark", "armed"} THEN Still(m, "refused_out_of_phase")
  ELSE IF m.img.tail = <<tail>> THEN Still(m, "absorbed")
  ELSE Moved([m EXCEPT !.img.tail = <<tail>>], "tail_known", <<>>)

(* Whether work may begin: "open", "absorbed", or a refusal. *)
Gate(m) == IF Phase(m) \notin Active THEN WhyNot(Phase(m))
           ELSE IF Phase(m) # "armed" THEN "absorbed"
           ELSE IF ~Granted(m) THEN "refused_not_armed"
           ELSE IF OwesCleanup(m) THEN "absorbed"
           ELSE "open"

Read(m, out, eff) ==
  Moved(GoTo(Issue(m), [name |-> "reading", ticket |-> Ticket(m, 1), until |-> mono + AwaitFor]), out,
        eff \o << [kind |-> "claim", ticket |-> Ticket(m, 1), skip |-> Skip(m)] >>)

(* STN-5: the hint says no more than "look". *)
StepHint(m) ==
  IF Gate(m) # "open" THEN Still(m, Gate(m))
  ELSE Moved(GoTo(Issue(m), [name |-> "waking", ticket |-> Ticket(m, 1), until |-> mono + AwaitFor]), "woken",
             << [kind |-> "read_inbox", ticket |-> Ticket(m, 1)] >>)

StepWorkFound(m) == IF Gate(m) # "open" THEN Still(m, Gate(m)) ELSE Read(m, "reading_started", <<>>)

(* FUS-1: count, then loop and depth, then echo. A limit is what is allowed; one more trips. *)
EchoWith(img, work) ==
  IF img.echo # <<>> /\ img.echo[1].message = work.message THEN img.echo[1].run
  ELSE IF img.echo # <<>> /\ img.echo[1].normal = work.normal THEN img.echo[1].run + 1 ELSE 1
Circle(work) == work.message \in {work.ancestry[i] : i \in DOMAIN work.ancestry}
Trip(img, work) ==
  IF Len(img.turns) >= TurnsPerHour THEN << [kind |-> "hour", count |-> Len(img.turns), limit |-> TurnsPerHour] >>
  ELSE IF Len(img.turns) >= TurnsPerDay THEN << [kind |-> "day", count |-> Len(img.turns), limit |-> TurnsPerDay] >>
  ELSE IF img.boot >= TurnsPerBoot THEN << [kind |-> "boot", count |-> img.boot, limit |-> TurnsPerBoot] >>
  ELSE IF ~work.own THEN <<>>
  ELSE IF Circle(work) THEN << [kind |-> "loop", count |-> 0, limit |-> 0] >>
  ELSE IF work.depth > CausalDepth THEN << [kind |-> "depth", count |-> work.depth, limit |-> CausalDepth] >>
  ELSE IF EchoWith(img, work) > EchoLimit THEN << [kind |-> "echo", count |-> EchoWith(img, work), limit |-> EchoLimit] >>
  ELSE <<>>

PassOf(work, turn) == [turn |-> [turn |-> turn, message |-> work.message], seq |-> work.seq, tier |-> work.tier,
                       content |-> work.content, fence |-> work.fence]

(* The complete turn that this message has had; what the mailbox holds goes first (STN-6). *)
AnswerOf(response) == [response |-> response, outcome |-> IF response = "silence" THEN "silence" ELSE "handled"]
Complete(m, work) ==
  IF work.prior # <<>> THEN << [turn |-> work.prior[1].turn, answer |-> AnswerOf(work.prior[1].response)] >>
  ELSE IF Of(m.img.progress, work.message) = {} THEN <<>> ELSE The(Of(m.img.progress, work.message)).finished

(* Result first, then the ACK (STN-6). *)
RecordResult(ticket, pass, answer) == [kind |-> "record_result", ticket |-> ticket, turn |-> pass.turn,
                                       fence |-> pass.fence, response |-> answer.response]
Acking(m, closing) ==
  GoTo(Issue(m), [name |-> "acking", ticket |-> Ticket(m, 1), closing |-> closing, until |-> mono + AwaitFor])
Close(m, pass, answer) == Acking(m, [step |-> "result", pass |-> pass, answer |-> answer])

(* The order of a trip (FUS-4): no turn any more, the audit record, the latch, the end of the process. *)
Latched(m, latch, cause, trip, audit, written) ==
  [m EXCEPT !.img.latch = << [latch |-> latch, cause |-> cause, trip |-> trip, at |-> wall, audit |-> audit,
                              written |-> written, clearing |-> <<>>, archived |-> FALSE] >>]
Stage(m, stage) == GoTo(m, [name |-> "latched_down", stage |-> stage])
Note(img) == [latch |-> img.latch[1].latch, cause |-> img.latch[1].cause, at |-> img.latch[1].at,
              audit |-> img.latch[1].audit]
Stop(m) == << [kind |-> "stop_process"], Tell("latched", m.img.latch[1].latch) >>

(* What claimed work comes to, the first that applies. `work` is <<>> or <<work>>. *)
StepClaimed(m, turn, lane, claimed) ==
  LET idle == Arm(m, LookEvery)
      back == <<Release(m.live.phase.ticket)>>
  IN
  IF claimed = <<>> THEN Moved(idle, "nothing_new", <<>>)
  ELSE LET work == claimed[1]
           complete == Complete(m, work)
           old == Of(m.img.progress, work.message)
           fresh == old # {} /\ work.released > The(old).released
       IN
  IF ~Granted(m) THEN Still(m, "refused_not_armed")
  ELSE IF complete # <<>> THEN                             \* STN-6: never a second turn
    LET pass == PassOf(work, complete[1].turn)
        answer == complete[1].answer
        taken == [m EXCEPT !.img.turn = << [turn |-> pass.turn, started |-> wall, fence |-> pass.fence,
                                            finish |-> <<"complete">>] >>,
                           !.img.progress = Without(@, work.message) \cup
                             {[message |-> work.message,
                               failures |-> IF old = {} THEN 0 ELSE The(old).failures,
                               rests_until |-> IF old = {} THEN 0 ELSE The(old).rests_until,
                               touched |-> wall,
                               released |-> IF old = {} THEN work.released ELSE Max(work.released, The(old).released),
                               finished |-> complete]}]
    IN  Moved(Close(taken, pass, answer), "turn_resumed",
              <<ReportTurn(pass, "complete"), RecordResult(Ticket(m, 1), pass, answer)>>)
  ELSE IF Spent(m.img, work.message) /\ ~fresh             \* STN-9
    THEN Moved(idle, "nothing_new", back \o <<Tell("stuck", work.message)>>)
  ELSE IF Rests(m, work.message) /\ ~fresh THEN Moved(idle, "nothing_new", back)
  ELSE IF lane = "unmapped" THEN Still(m, "refused_unmapped_model")   \* OBS-2
  ELSE IF Trip(m.img, work) # <<>> THEN
    LET cut == Issue(Latched(m, turn, [tripped |-> work.message], Trip(m.img, work), <<>>, FALSE))
    IN  Moved(Stage(cut, [kind |-> "auditing", ticket |-> Ticket(m, 1), due |-> mono + AuditWithin]), "latched",
              back \o << [kind |-> "append_trip_audit", ticket |-> Ticket(m, 1), latch |-> turn,
                          within |-> AuditWithin] >>)
  ELSE                                                     \* FUS-2: counted by the record that lets it start
    LET pass == PassOf(work, turn)
        begun == IF old = {} \/ fresh
                 THEN [message |-> work.message, failures |-> 0, rests_until |-> 0, touched |-> wall,
                       released |-> work.released, finished |-> <<>>]
                 ELSE [The(old) EXCEPT !.touched = wall]
        started == [Issue(m) EXCEPT
                     !.img.turns = Append(@, wall), !.img.boot = @ + 1,
                     !.img.echo = IF work.own THEN << [message |-> work.message, normal |-> work.normal,
                                                       run |-> EchoWith(m.img, work)] >> ELSE @,
                     !.img.turn = << [turn |-> pass.turn, started |-> wall, fence |-> pass.fence, finish |-> <<>>] >>,
                     !.img.progress = Without(@, work.message) \cup {begun},
                     !.live.rests = Without(@, work.message)]
    IN  Moved(GoTo(started, [name |-> "cognizing", ticket |-> Ticket(m, 1), pass |-> pass,
                             until |-> mono + FlightMax, renew |-> mono + RenewEvery]),
              "turn_started", << [kind |-> "start_turn", ticket |-> Ticket(m, 1), turn |-> pass.turn, lane |-> lane] >>)

(* OBS-1…3: how a turn ended. `answer` is <<>> or <<answer>>; without one no turn is complete. *)
StepTurnFinished(m, finish, answer) ==
  LET pass == m.live.phase.pass
      verdict == IF finish = "complete" /\ answer = <<>> THEN "unknown" ELSE finish
  IN
  IF verdict = "complete" THEN
    LET kept == {[p EXCEPT !.finished = << [turn |-> pass.turn.turn, answer |-> answer[1]] >>, !.touched = wall]
                 : p \in Of(m.img.progress, pass.turn.message)}
        done == [TurnEnds(m, "complete") EXCEPT !.img.progress = Without(@, pass.turn.message) \cup kept]
    IN  Moved(Close(done, pass, answer[1]), "turn_finished_complete",
              <<ReportTurn(pass, "complete"), RecordResult(Ticket(m, 1), pass, answer[1])>>)
  ELSE IF verdict = "truncated" /\ answer # <<>> /\ pass.tier # 0      \* OBS-3: handled for the queue, not observed
    THEN PassFails(Issue(m), pass, "truncated", <<RecordResult(Ticket(m, 1), pass, answer[1])>>)
  ELSE PassFails(m, pass, verdict, <<>>)

Latency(img, seq) == IF img.tail # <<>> /\ seq > img.tail[1] THEN "measured" ELSE "unmeasured"

Sync(m, message, seq) ==
  LET closed == [m EXCEPT !.img.progress = Without(@, message), !.live.rests = Without(@, message)]
  IN  Moved(GoTo(Clean(closed), [name |-> "synced", message |-> message, latency |-> Latency(m.img, seq)]),
            "synced_" \o Latency(m.img, seq), <<CleanUp(closed)>>)

ClosingMessage(c) == IF c.step = "own" THEN c.message ELSE c.pass.turn.message
ClosingSeq(c) == IF c.step = "own" THEN c.seq ELSE c.pass.seq

(* ACKING→ARMED: refused or not recorded. *)
StillOutstanding(m) ==
  LET failed == Fail(m, ClosingMessage(m.live.phase.closing))
  IN  Moved(Arm(Clean(failed), LookEvery), "still_outstanding", <<CleanUp(failed)>>)

StepResultRecorded(m) ==
  LET c == m.live.phase.closing IN
  IF c.pass.tier = 0 THEN
    Moved(Acking(m, [step |-> "ack", pass |-> c.pass, answer |-> c.answer]), "result_recorded",
          << [kind |-> "send_ack", ticket |-> Ticket(m, 1), turn |-> c.pass.turn, content |-> c.pass.content,
              outcome |-> c.answer.outcome, fence |-> c.pass.fence] >>)
  ELSE Sync(m, c.pass.turn.message, c.pass.seq)

(* STN-3: the target's own valid ACK. A turn that was running did not report (STN-8). *)
StepOwnAck(m, message, seq, by) ==
  LET p == m.live.phase
      own(n) == Acking(n, [step |-> "own", message |-> message, seq |-> seq, by |-> by])
      forward(n) == [kind |-> "forward_ack", ticket |-> Ticket(n, 1), message |-> message, by |-> by]
  IN
  IF p.name = "armed" /\ ~OwesCleanup(m) /\ Granted(m) THEN Moved(own(m), "own_ack_seen", <<forward(m)>>)
  ELSE IF p.name = "reading" THEN Moved(own(m), "own_ack_seen", <<Release(p.ticket), forward(m)>>)
  ELSE IF p.name = "cognizing" /\ p.pass.turn.message = message THEN
    LET ended == TurnEnds(m, "unreported")
    IN  Moved(own(ended), "own_ack_seen", <<ReportTurn(p.pass, "unreported"), forward(ended)>>)
  ELSE Still(m, "absorbed")

StepLeaseLost(m, fence) ==
  LET p == m.live.phase IN
  IF p.name = "cognizing" /\ p.pass.fence = fence THEN PassFails(m, p.pass, "cancelled", <<>>)
  ELSE IF p.name = "acking" /\ p.closing.step # "own" /\ p.closing.pass.fence = fence THEN StillOutstanding(m)
  ELSE Still(m, "absorbed")

StepCauseFound(m, cause) ==
  IF Phase(m) \in {"dark", "latched_down"} THEN Still(m, WhyNot(Phase(m)))
  ELSE IF Phase(m) = "refused" THEN
    IF cause \in m.live.phase.causes THEN Still(m, "absorbed")
    ELSE Moved([m EXCEPT !.live.phase.causes = @ \cup {cause}], "cause_found", <<>>)
  ELSE LET left == Abandon(m) IN Moved(GoTo(left.m, [name |-> "refused", causes |-> {cause}]), "cause_found", left.eff)

StepCauseGone(m, cause) ==
  IF Phase(m) \in {"dark", "latched_down"} THEN Still(m, WhyNot(Phase(m)))
  ELSE IF Phase(m) # "refused" \/ cause \notin m.live.phase.causes THEN Still(m, "absorbed")
  ELSE IF m.live.phase.causes # {cause}
    THEN Moved([m EXCEPT !.live.phase.causes = @ \ {cause}], "cause_gone", <<>>)
  ELSE IF Granted(m) THEN Moved(Arm(m, 0), "cause_gone", <<>>)
  ELSE EndGrant(m, "expired")

(* FUS-6: anything at the latch path is a latch. It is left as it is: it is evidence. *)
StepLatchFound(m, latch) ==
  IF Phase(m) = "latched_down" THEN Still(m, "absorbed")
  ELSE IF Phase(m) \in {"dark", "refused"} THEN Still(m, "refused_latched")
  ELSE LET left == Abandon(m)
           down == Stage(Latched(left.m, latch, [found |-> TRUE], <<>>, <<"missing_found">>, TRUE), [kind |-> "down"])
       IN  Moved(down, "latched", left.eff \o Stop(down))

WriteLatch(m, out, alarms) ==
  Moved(Stage(Issue(m), [kind |-> "writing", ticket |-> Ticket(m, 1), due |-> mono + AuditWithin]), out,
        alarms \o << [kind |-> "write_latch", ticket |-> Ticket(m, 1), note |-> Note(m.img)] >>)

TripAudited(m, audit) ==
  LET known == [m EXCEPT !.img.latch[1].audit = <<audit>>]
  IN  WriteLatch(known, "trip_audited_" \o audit,
                 IF audit = "recorded" THEN <<>> ELSE <<Tell("trip_audit_missing", m.img.latch[1].latch)>>)

LatchSettled(m, written) ==
  LET settled == Stage([m EXCEPT !.img.latch[1].written = written], [kind |-> "down"])
  IN  IF written THEN Moved(settled, "latch_settled_written", Stop(m))
      ELSE Moved(settled, "latch_settled_not_written", <<Tell("latch_not_written", m.img.latch[1].latch)>> \o Stop(m))

(* FUS-7: archived, removed, and only then forgotten; a crash between leaves it latched, and clearing repeatable. *)
StepClear(m, command) ==
  IF Phase(m) # "latched_down" THEN Still(m, "refused_not_latched")
  ELSE LET stage == m.live.phase.stage IN
  IF stage.kind \in {"auditing", "writing"} THEN Still(m, "refused_out_of_phase")
  ELSE IF stage.kind \in {"archiving", "removing"} /\ stage.command = command THEN Still(m, "absorbed")
  ELSE LET ordered == [Issue(m) EXCEPT !.img.latch[1].clearing = <<command>>]
       IN  Moved(Stage(ordered, [kind |-> "archiving", ticket |-> Ticket(m, 1), command |-> command]),
                 "clear_accepted", << [kind |-> "archive_latch", ticket |-> Ticket(m, 1), note |-> Note(m.img)] >>)

ClearFailed(m) == Moved(Stage(m, [kind |-> "down"]), "clear_failed", <<Tell("clear_failed", m.img.latch[1].latch)>>)

StepLatchArchived(m, ok) ==
  IF ~ok THEN ClearFailed(m)
  ELSE Moved(Stage([Issue(m) EXCEPT !.img.latch[1].archived = TRUE],
                   [kind |-> "removing", ticket |-> Ticket(m, 1), command |-> m.live.phase.stage.command]),
             "latch_archived", << [kind |-> "remove_latch", ticket |-> Ticket(m, 1), latch |-> m.img.latch[1].latch] >>)

StepLatchRemoved(m, ok) ==
  IF ~ok THEN ClearFailed(m)
  ELSE Moved(GoTo([m EXCEPT !.img.latch = <<>>, !.img.grant = <<>>, !.live.grant_ends = <<>>], Dark), "cleared", <<>>)

StepCleanupDone(m) ==
  LET paid == [m EXCEPT !.img.turn = <<>>, !.live.cleaning = <<>>]
  IN  Moved(IF Phase(m) \in {"synced", "armed"} THEN Arm(paid, 0) ELSE paid, "cleaned_up", <<>>)

(* STN-4: a completion is judged by its ticket first. *)
PhaseTicket(m) ==
  IF Phase(m) \in {"waking", "reading", "cognizing", "acking"} THEN <<m.live.phase.ticket>>
  ELSE IF Phase(m) = "latched_down" /\ "ticket" \in DOMAIN m.live.phase.stage THEN <<m.live.phase.stage.ticket>>
  ELSE <<>>
Place(m, t) ==
  IF t.epoch < m.img.epoch THEN "stale"
  ELSE IF t.epoch > m.img.epoch \/ t.number = 0 \/ t.number > m.live.issued THEN "never"
  ELSE IF PhaseTicket(m) = <<t>> \/ (OwesCleanup(m) /\ m.live.cleaning[1].ticket = t) THEN "current"
  ELSE "late"

Waits(m, kind) ==
  LET p == m.live.phase IN
  CASE kind \in {"inbox_read", "dispatch_failed"} -> p.name = "waking"
    [] kind = "claimed" -> p.name = "reading"
    [] kind = "turn_finished" -> p.name = "cognizing"
    [] kind \in {"result_recorded", "result_refused"} -> p.name = "acking" /\ p.closing.step = "result"
    [] kind \in {"ack_accepted", "ack_refused"} -> p.name = "acking" /\ p.closing.step # "result"
    [] kind = "trip_audit_done" -> p.name = "latched_down" /\ p.stage.kind = "auditing"
    [] kind = "latch_written" -> p.name = "latched_down" /\ p.stage.kind = "writing"
    [] kind = "latch_archived" -> p.name = "latched_down" /\ p.stage.kind = "archiving"
    [] kind = "latch_removed" -> p.name = "latched_down" /\ p.stage.kind = "removing"

(* `c` is a completion: [kind, and what it brings]. *)
StepCompletion(m, t, c) ==
  IF Place(m, t) = "late" THEN Still(m, "absorbed")
  ELSE IF Place(m, t) = "stale" THEN Still(m, "refused_stale_ticket")
  ELSE IF Place(m, t) = "never" THEN Still(m, "refused_out_of_phase")
  ELSE IF c.kind = "cleanup_done" THEN
    IF OwesCleanup(m) /\ m.live.cleaning[1].ticket = t THEN StepCleanupDone(m) ELSE Still(m, "refused_out_of_phase")
  ELSE IF PhaseTicket(m) # <<t>> \/ ~Waits(m, c.kind) THEN Still(m, "refused_out_of_phase")
  ELSE
  CASE c.kind = "inbox_read" -> IF Granted(m) THEN Read(m, "reading_started", <<>>) ELSE Still(m, "refused_not_armed")
    [] c.kind = "dispatch_failed" -> Moved(Arm(m, LookEvery), "dispatch_failed", <<>>)
    [] c.kind = "claimed" -> StepClaimed(m, c.turn, c.lane, c.work)
    [] c.kind = "turn_finished" -> StepTurnFinished(m, c.finish, c.answer)
    [] c.kind = "result_recorded" -> StepResultRecorded(m)
    [] c.kind \in {"result_refused", "ack_refused"} -> StillOutstanding(m)
    [] c.kind = "ack_accepted" -> Sync(m, ClosingMessage(m.live.phase.closing), ClosingSeq(m.live.phase.closing))
    [] c.kind = "trip_audit_done" -> TripAudited(m, c.audit)
    [] c.kind = "latch_written" -> LatchSettled(m, c.ok)
    [] c.kind = "latch_archived" -> StepLatchArchived(m, c.ok)
    [] c.kind = "latch_removed" -> StepLatchRemoved(m, c.ok)

(* Deadlines: the latch first, then the end of the grant, the cleanup, the phase. *)
LatchDue(m) == Phase(m) = "latched_down" /\ "due" \in DOMAIN m.live.phase.stage /\ m.live.phase.stage.due <= mono
GrantDue(m) == m.live.grant_ends # <<>> /\ m.live.grant_ends[1] <= mono
CleanDue(m) == OwesCleanup(m) /\ m.live.cleaning[1].again <= mono
PhaseDue(m) ==
  \/ Phase(m) \in {"waking", "reading", "acking", "cognizing"} /\ m.live.phase.until <= mono
  \/ Phase(m) = "cognizing" /\ m.live.phase.renew <= mono
  \/ Phase(m) = "armed" /\ ~OwesCleanup(m) /\ m.live.phase.look <= mono

StepFire(m) ==
  IF LatchDue(m) THEN
    LET kind == m.live.phase.stage.kind IN
    IF kind = "owed" THEN WriteLatch(m, "relatching", <<>>)
    ELSE IF kind = "auditing" THEN TripAudited(m, "missing_late")
    ELSE LatchSettled(m, FALSE)
  ELSE IF GrantDue(m) THEN EndGrant(m, "expired")
  ELSE IF CleanDue(m) THEN
    Moved([m EXCEPT !.live.cleaning[1].again = mono + CleanEvery], "cleaning_up",
          << [kind |-> "clean_up", ticket |-> m.live.cleaning[1].ticket, of |-> CleanOf(m)] >>)
  ELSE IF ~PhaseDue(m) THEN Still(m, "absorbed")
  ELSE IF Phase(m) = "waking" THEN Moved(Arm(m, LookEvery), "dispatch_failed", <<>>)
  ELSE IF Phase(m) = "reading" THEN Moved(Arm(m, LookEvery), "nothing_new", <<Release(m.live.phase.ticket)>>)
  ELSE IF Phase(m) = "acking" THEN StillOutstanding(m)
  ELSE IF Phase(m) = "cognizing" THEN
    IF m.live.phase.until <= mono THEN PassFails(m, m.live.phase.pass, "timeout", <<>>)
    ELSE Moved([m EXCEPT !.live.phase.renew = mono + RenewEvery], "renewing",
               << [kind |-> "renew", fence |-> m.live.phase.pass.fence] >>)
  ELSE Moved(Arm(m, LookEvery), "looked", << [kind |-> "poll", skip |-> Skip(m)] >>)

(* STN-2: a recovery. No effects; the first deadlines ask for what is owed. *)
Woken(img0) ==
  LET epoch == img0.epoch + 1
      running == img0.turn # <<>> /\ img0.turn[1].finish = <<>>
      message == img0.turn[1].turn.message
      old == The(Of(img0.progress, message))
      lost == IF ~running THEN img0
              ELSE [img0 EXCEPT !.turn[1].finish = <<"unknown">>,
                                !.progress = Without(@, message) \cup
                                  {[old EXCEPT !.failures = @ + 1, !.rests_until = wall + BackOff(old.failures + 1),
                                               !.touched = wall]}]
      held == lost.grant # <<>> /\ wall < lost.grant[1].until
      img == [lost EXCEPT !.epoch = epoch, !.boot = 0,
                          !.grant = IF held THEN @ ELSE <<>>,
                          !.latch = IF @ # <<>> /\ @[1].audit = <<>>
                                    THEN << [@[1] EXCEPT !.audit = <<"missing_interrupted">>] >> ELSE @]
      rests == {[message |-> p.message, until |-> mono + Min(Minus(p.rests_until, wall), BackOff(p.failures))]
                : p \in {q \in img.progress : q.rests_until > wall}}
      owes == img.turn # <<>>
      live == [phase |-> Dark, issued |-> IF owes THEN 1 ELSE 0,
               grant_ends |-> IF held THEN <<mono + Min(Minus(img.grant[1].until, wall), GrantMax)>> ELSE <<>>,
               rests |-> rests,
               cleaning |-> IF owes THEN << [ticket |-> [epoch |-> epoch, number |-> 1], again |-> mono] >> ELSE <<>>]
      m == [img |-> img, live |-> live]
  IN  IF img.latch # <<>>
      THEN Stage(m, IF "found" \in DOMAIN img.latch[1].cause THEN [kind |-> "down"] ELSE [kind |-> "owed", due |-> mono])
      ELSE IF held THEN Arm(m, 0) ELSE m

Refusals == {"refused_not_armed", "refused_latched", "refused_out_of_phase", "refused_not_latched",
             "refused_unmapped_model", "refused_stale_ticket", "refused_operator_bound_exceeded"}
Advances(out) == out # "absorbed" /\ out \notin Refusals

------------------------------------------------------------------------------
(* 2. The process: one input in a transaction *)

Down == [up |-> <<>>, staged |-> 0, eff |-> <<>>]
IsUp == proc.up # <<>>
M == proc.up[1]
Room == IsUp /\ proc.staged = 0
Within(m) == m.live.issued <= MaxIssued /\ Len(m.img.turns) <= MaxTurns

Init == disk = FreshImage /\ proc = Down /\ wall = FirstWall /\ mono = 0

Take(s, out) ==
  /\ s.out = out
  /\ IF Advances(out)
     THEN /\ Within(s.m)
          /\ proc' = [up |-> <<s.m>>, staged |-> 1, eff |-> s.eff]
          /\ UNCHANGED <<disk, wall, mono>>
     ELSE UNCHANGED vars

Boot ==
  /\ ~IsUp /\ disk.epoch < MaxEpoch
  /\ proc' = [up |-> <<Woken(disk)>>, staged |-> 1, eff |-> <<>>]
  /\ UNCHANGED <<disk, wall, mono>>

Commit ==
  /\ IsUp /\ proc.staged > 0
  /\ disk' = M.img /\ proc' = [up |-> proc.up, staged |-> 0, eff |-> <<>>]
  /\ UNCHANGED <<wall, mono>>

CommitFails(fate) ==
  /\ IsUp /\ proc.staged > 0 /\ fate \in Fates
  /\ disk' = IF fate = "written" THEN M.img ELSE disk
  /\ proc' = Down
  /\ UNCHANGED <<wall, mono>>

Crash == IsUp /\ MayCrash /\ proc' = Down /\ mono' = 0 /\ UNCHANGED <<disk, wall>>

Tick ==
  /\ IsUp /\ proc.staged = 0 /\ mono < MaxMono /\ wall < MaxWall
  /\ mono' = mono + 1 /\ wall' = wall + 1
  /\ UNCHANGED <<disk, proc>>

ClockBack(by) ==
  /\ by \in Backs /\ wall >= by /\ proc.staged = 0
  /\ wall' = wall - by
  /\ UNCHANGED <<disk, proc, mono>>

------------------------------------------------------------------------------
(* 3. What holds *)

PhaseNames == Active \cup {"dark", "refused", "latched_down"}
Finishes == {"complete", "truncated", "timeout", "cancelled", "unreported", "unknown"}

TypeImage(img) ==
  /\ img.epoch \in 0..MaxEpoch /\ img.boot \in 0..MaxTurns /\ Len(img.turns) <= MaxTurns
  /\ img.grant = <<>> \/ DOMAIN img.grant[1] = {"until", "command"}
  /\ img.turn = <<>> \/ img.turn[1].finish = <<>> \/ img.turn[1].finish[1] \in Finishes
  /\ img.latch = <<>> \/ (img.latch[1].written \in BOOLEAN /\ img.latch[1].archived \in BOOLEAN)
  /\ \A p, q \in img.progress : p.message = q.message => p = q

TypeOK ==
  /\ TypeImage(disk) /\ wall \in 0..MaxWall /\ mono \in 0..MaxMono
  /\ IsUp => /\ TypeImage(M.img) /\ Phase(M) \in PhaseNames /\ M.live.issued \in 0..MaxIssued
             /\ Phase(M) = "refused" => M.live.phase.causes # {}
             /\ \A p, q \in M.live.rests : p.message = q.message => p = q

FML_1_live_is_durable == Room => M.img = disk
FML_1_sealed == proc.staged = 0 => proc.eff = <<>>
\* STN-1, STN-2: what is active has a grant; what is not latched has no latch.
STN_2_active_has_grant == IsUp /\ Phase(M) \in Active \cup {"refused"} => M.img.grant # <<>>
FUS_6_latched == IsUp => ((M.img.latch # <<>>) <=> (Phase(M) = "latched_down"))
\* STN-9: a turn that is over is cleaned up, or being closed.
STN_9_cleanup_owed == IsUp /\ M.img.turn # <<>> => OwesCleanup(M) \/ Phase(M) \in {"cognizing", "acking"}
STN_9_no_pass_while_owed == IsUp /\ OwesCleanup(M) => Phase(M) \notin {"waking", "reading", "cognizing"}
\* STN-6: nothing is closed but after a complete turn, whose answer is kept.
STN_6_complete_kept ==
  IsUp /\ Phase(M) = "acking" /\ M.live.phase.closing.step # "own"
  => /\ M.img.turn[1].finish = <<"complete">>
     /\ \E p \in M.img.progress : p.message = M.live.phase.closing.pass.turn.message /\ p.finished # <<>>
\* FUS-1, FUS-2: enforcement is the count; never more turns than allowed.
FUS_2_counted == Len(disk.turns) <= Min(TurnsPerHour, TurnsPerDay) /\ disk.boot <= TurnsPerBoot
\* FUS-4, FUS-5: the latch is written only when the fate of its audit record is known.
FUS_5_audit_before_latch == \A i \in DOMAIN proc.eff : proc.eff[i].kind = "write_latch" => proc.eff[i].note.audit # <<>>
\* FUS-4: the process is stopped only once the latch is settled.
FUS_4_stop_last == \A i \in DOMAIN proc.eff : proc.eff[i].kind = "stop_process" => Phase(M) = "latched_down" /\ M.live.phase.stage.kind = "down"
FML_1_fire == IsUp => (Advances(StepFire(M).out) <=> (LatchDue(M) \/ GrantDue(M) \/ CleanDue(M) \/ PhaseDue(M)))

Goes == proc.up # <<>> /\ proc'.up # <<>>
New == proc'.up[1]
Effects == {proc'.eff[i].kind : i \in DOMAIN proc'.eff}

\* STN-3: the edges.
Edges ==
  {<<"dark", "armed">>, <<"armed", "waking">>, <<"armed", "reading">>, <<"waking", "reading">>, <<"waking", "armed">>,
   <<"reading", "armed">>, <<"reading", "cognizing">>, <<"reading", "acking">>, <<"armed", "acking">>,
   <<"cognizing", "acking">>, <<"cognizing", "armed">>, <<"acking", "synced">>, <<"acking", "armed">>,
   <<"synced", "armed">>, <<"refused", "armed">>, <<"refused", "dark">>, <<"latched_down", "dark">>}
  \cup {<<p, "refused">> : p \in Active} \cup {<<p, "latched_down">> : p \in Active} \cup {<<p, "dark">> : p \in Active}
  \cup {<<p, p>> : p \in PhaseNames}
STN_3_edges == [][Goes => <<Phase(M), Phase(New)>> \in Edges]_vars
\* STN-2: no pass begins and no turn starts without a grant that holds.
STN_2_begins_with_grant ==
  [][Goes /\ Phase(New) # Phase(M) /\ Phase(New) \in {"waking", "reading", "cognizing"} => Granted(M)]_vars
\* FUS-2: the count is raised by the step that starts the turn.
FUS_2_raised_first == [][Goes /\ "start_turn" \in Effects /\ proc.staged = 0
                        => New.img.boot = M.img.boot + 1 /\ Len(New.img.turns) = Len(M.img.turns) + 1]_vars
\* FUS-4: under a latch nothing starts.
FUS_4_nothing_starts == [][Goes /\ M.img.latch # <<>> => Effects \cap {"start_turn", "claim", "read_inbox"} = {}]_vars
\* FUS-7: the latch goes only after it is archived, by a command; and the grant goes with it.
FUS_7_cleared_last ==
  [][Goes /\ M.img.latch # <<>> /\ New.img.latch = <<>>
     => M.img.latch[1].archived /\ M.img.latch[1].clearing # <<>> /\ New.img.grant = <<>>]_vars
\* FUS-6: a latch is not lost by a crash or a failed commit.
FUS_6_survives == [][disk.latch # <<>> /\ disk'.latch = <<>> => IsUp /\ M.img.latch = <<>>]_vars
\* STN-6, ACK-5: the ACK follows the result, after a complete turn.
STN_6_result_first == [][Goes /\ "send_ack" \in Effects /\ proc.staged = 0
                        => Phase(M) = "acking" /\ M.live.phase.closing.step = "result" /\ New.img.turn[1].finish = <<"complete">>]_vars
\* STN-6: after a complete turn a message has no other.
STN_6_no_second_turn ==
  [][Goes /\ "start_turn" \in Effects /\ proc.staged = 0
     => \A p \in M.img.progress : p.message = New.img.turn[1].turn.message => p.finished = <<>>]_vars
\* OBS-1: only a turn that is complete is closed by the station.
OBS_1_only_complete ==
  [][Goes /\ Phase(M) = "cognizing" /\ Phase(New) = "acking" /\ New.live.phase.closing.step # "own"
     => New.img.turn[1].finish = <<"complete">>]_vars
\* STN-9: no turn on a message whose attempts are used up, short of a fresh start.
STN_9_attempts ==
  [][Goes /\ "start_turn" \in Effects /\ proc.staged = 0
     => \A p \in New.img.progress : p.message = New.img.turn[1].turn.message => p.failures < Attempts]_vars
\* STN-9: one turn at a time.
STN_9_one_turn == [][Goes /\ "start_turn" \in Effects /\ proc.staged = 0 => M.img.turn = <<>>]_vars
\* STN-9: a failed message rests.
STN_9_failed_rests ==
  [][Goes => \A p \in New.img.progress : \A q \in M.img.progress :
       p.message = q.message /\ p.failures > q.failures
       => \E r \in New.live.rests : r.message = p.message /\ r.until >= mono + BackOff(p.failures)]_vars
=============================================================================
