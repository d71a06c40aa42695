------------------------------ MODULE Mailbox ------------------------------
(* The mailbox of one target: places, witnesses, cursor, lease, tokens,      *)
(* mints, the permit.  Written from spec/ (rules ADM, INB, ACK, EMT, DSP,    *)
(* machines/mailbox.toml) and not from the kernel.  The shape is that of     *)
(* Waker.tla; beside the image there are the rows, which the machine asks    *)
(* for as facts inside the transaction, and the rights of the target.        *)
(*                                                                           *)
(* An option is <<>> or <<value>>.  Maps are sets of records with a key.     *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  LeaseLife,     \* INB-7
  PermitLife,    \* DSP-7
  FlightMax,     \* DSP-2
  Attempts,      \* INB-8
  ReEmissions, ReEmissionBase,   \* EMT-3
  Escalate,      \* ACK-9
  MessageAge,    \* INB-3
  Skew,          \* ACK-3
  HintLife,      \* SIG-5
  Queue, Reserve \* PRT-2

CONSTANTS        \* bounds of the search
  MaxMessages, MaxMints, MaxLeases, MaxPermits, MaxEpoch, MaxMono, MaxWall, FirstWall, Backs,
  Rights,        \* which rights may be withdrawn and given back
  Batch, MayCrash, Fates

VARIABLES
  disk,          \* [img, rows]: what is durable
  proc,          \* [up |-> <<[img, rows, live]>> or <<>>, staged, eff]
  rights,        \* what the registry says now: [rostered, armed, open]
  wall, mono
vars == <<disk, proc, rights, wall, mono>>

------------------------------------------------------------------------------
(* 1. The machine *)

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b
Minus(a, b) == IF a > b THEN a - b ELSE 0

FreshImage == [last |-> 0, cursor |-> 0, ahead |-> {}, witnesses |-> {}, progress |-> {}, queued |-> 0,
               lease |-> <<>>, lease_fence |-> 0, permit |-> <<>>, permit_fence |-> 0, token |-> <<>>, epoch |-> 0]
FreshRows == [messages |-> {}, mints |-> {}, told |-> {}]

Still(m, out) == [out |-> out, m |-> m, eff |-> <<>>]
Moved(m, out, eff) == [out |-> out, m |-> m, eff |-> eff]

At(set, seq) == {x \in set : x.seq = seq}
Has(set, seq) == At(set, seq) # {}
The(set) == CHOOSE x \in set : TRUE
Drop(set, seq) == {x \in set : x.seq # seq}
Put(set, x) == Drop(set, x.seq) \cup {x}

Row(m, id) == {r \in m.rows.messages : r.id = id}
Untouched(seq) == [seq |-> seq, attempts |-> 0, read |-> FALSE, turn |-> <<>>, response |-> <<>>, quarantined |-> FALSE]
Progress(img, seq) == IF Has(img.progress, seq) THEN The(At(img.progress, seq)) ELSE Untouched(seq)

IsFinished(img, seq) == seq <= img.cursor \/ seq \in img.ahead

(* INB-8: work with a result waits for its ACK and has one attempt more for that. *)
Spent(p) == p.attempts >= Attempts + (IF p.response # <<>> THEN 1 ELSE 0)
Workable(img) == {w \in img.witnesses : LET p == Progress(img, w.seq) IN ~p.quarantined /\ ~Spent(p)}

(* INB-7: a lease whose time is not over. Only the live one has power. *)
LiveLease(m) == m.img.lease # <<>> /\ m.live.lease # <<>> /\ mono < m.live.lease[1]
Holds(m, fence) == LiveLease(m) /\ m.img.lease[1].fence = fence
Covers(m, seq) == m.img.lease # <<>> /\ Has(m.img.lease[1].claimed, seq)
Claim(m, seq) == The(At(m.img.lease[1].claimed, seq))

(* EMT-3: the pause before scheduled hint number `used` + 1, <<>> when the schedule is used up. *)
PauseBefore(used) == IF used = 0 THEN <<0>> ELSE IF used <= ReEmissions THEN <<ReEmissionBase * 2 ^ (used - 1)>> ELSE <<>>
Resume(since, length) == mono + Min(Minus(since + length, wall), length)

NoEmission(m, seq) == [m EXCEPT !.live.emissions = Drop(@, seq)]
NextEmission(m, seq, used) ==
  IF PauseBefore(used) = <<>> THEN NoEmission(m, seq)
  ELSE [m EXCEPT !.live.emissions = Put(@, [seq |-> seq, at |-> mono + PauseBefore(used)[1]])]
Settle(m, seq) == IF Spent(Progress(m.img, seq)) THEN NoEmission(m, seq) ELSE m

EditRow(m, seq, row) == [m EXCEPT !.rows.messages = Put(@, row)]
RowAt(m, seq) == The(At(m.rows.messages, seq))

(* INB-3, INB-4, ACK-10: nothing more is owed; the cursor passes everything that is finished, in one step. *)
Finish(m, seq, how) ==
  LET done == m.img.ahead \cup {seq}
      reach == {n \in m.img.cursor..m.img.last : \A k \in (m.img.cursor + 1)..n : k \in done}
      to == CHOOSE n \in reach : \A k \in reach : k <= n
      lease == IF Covers(m, seq) THEN << [m.img.lease[1] EXCEPT !.claimed = Drop(@, seq)] >> ELSE m.img.lease
  IN  [m EXCEPT !.img.cursor = to, !.img.ahead = {n \in done : n > to},
                !.img.witnesses = Drop(@, seq), !.img.progress = Drop(@, seq), !.img.queued = @ - 1, !.img.lease = lease,
                !.rows.messages = Put(@, [RowAt(m, seq) EXCEPT !.finished = <<how>>]),
                !.live.emissions = Drop(@, seq), !.live.escalations = Drop(@, seq)]

CloseWitness(m, seq, closed) ==
  Finish([m EXCEPT !.rows.messages = Put(@, [RowAt(m, seq) EXCEPT !.closed = <<closed>>])], seq, "witness_closed")

Tell(message) == [kind |-> "tell_operator", message |-> message]

(* INB-8: set aside for the operator. Never closes a witness; other tiers are finished by it. *)
Quarantine(m, seq) ==
  LET row == [RowAt(m, seq) EXCEPT !.quarantined = TRUE]
      marked == [m EXCEPT !.rows.messages = Put(@, row)]
  IN  IF row.tier = 0
      THEN [marked EXCEPT !.img.progress = Put(@, [Progress(m.img, seq) EXCEPT !.quarantined = TRUE]),
                          !.live.emissions = Drop(@, seq)]
      ELSE Finish(marked, seq, "quarantined")

RECURSIVE QuarantineAll(_, _), TellAll(_, _)
First(seqs) == CHOOSE n \in seqs : \A k \in seqs : n <= k
QuarantineAll(m, seqs) == IF seqs = {} THEN m ELSE QuarantineAll(Quarantine(m, First(seqs)), seqs \ {First(seqs)})
TellAll(m, seqs) == IF seqs = {} THEN <<>> ELSE <<Tell(RowAt(m, First(seqs)).id)>> \o TellAll(m, seqs \ {First(seqs)})

\* Ends the lease, if there is one; what has used up its attempts is set aside.
SetAside(m) == IF m.img.lease = <<>> THEN {}
               ELSE {c.seq : c \in {d \in m.img.lease[1].claimed : Spent(Progress(m.img, d.seq))}}
EndLease(m) == QuarantineAll([m EXCEPT !.img.lease = <<>>, !.live.lease = <<>>], SetAside(m))

------------------------------------------------------------------------------
(* EMT-2: each start takes a new epoch above everything that is known. *)
StepStart(m, floor) ==
  IF m.live.emitting /\ floor < m.img.epoch THEN Still(m, "absorbed")
  ELSE Moved([m EXCEPT !.img.epoch = Max(@, floor) + 1, !.live.emitting = TRUE], "started", <<>>)

(* ADM-2, on the facts of this mailbox; the first that applies. `s` is a submission with what is known of its sender. *)
StepAdmit(m, s) ==
  LET known == Row(m, s.id)
      seq == m.img.last + 1
      alert == s.tier = 0
      row == [seq |-> seq, id |-> s.id, content |-> s.content, tier |-> s.tier, admitted |-> wall, read |-> FALSE,
              turn |-> <<>>, ended |-> {}, response |-> <<>>, closed |-> <<>>, finished |-> <<>>,
              quarantined |-> FALSE, released |-> 0]
      stored == [m EXCEPT !.img.last = seq, !.img.queued = @ + 1, !.rows.messages = @ \cup {row}]
  IN
  IF known # {} THEN IF The(known).content = s.content THEN Still(m, "absorbed") ELSE Still(m, "refused_duplicate_conflict")
  ELSE IF alert /\ s.own THEN Still(m, "refused_self_wake")
  ELSE IF alert /\ ~s.can_ack THEN Still(m, "refused_target_cannot_ack")
  ELSE IF alert /\ s.roster # "listed" THEN Still(m, "refused_" \o s.roster)
  ELSE IF alert /\ ~rights.rostered THEN Still(m, "refused_not_on_roster")
  ELSE IF alert /\ ~rights.open THEN Still(m, "refused_tier0_closed")
  ELSE IF m.img.queued >= (IF alert THEN Queue + Reserve ELSE Queue) THEN Still(m, "refused_queue_full")
  ELSE IF ~alert THEN Moved(stored, "admitted", <<>>)
  ELSE Moved([stored EXCEPT                                              \* ACK-1, in the same transaction
                !.img.witnesses = @ \cup {[seq |-> seq, message |-> s.id, opened |-> wall, emissions |-> 0,
                                           last |-> wall, escalated |-> FALSE]},
                !.live.escalations = @ \cup {[seq |-> seq, at |-> mono + Escalate]},
                !.live.emissions = @ \cup {[seq |-> seq, at |-> mono]}],
             "admitted", <<>>)

(* INB-7, RTE-3: a holder takes up to `max` waiting messages, alerts first. A claim is idempotent per holder. *)
Before(a, b) == a.tier < b.tier \/ (a.tier = b.tier /\ a.seq <= b.seq)
StepClaim(m, holder, max) ==
  IF LiveLease(m) /\ m.img.lease[1].claimed # {}
  THEN IF m.img.lease[1].holder = holder THEN Still(m, "absorbed") ELSE Still(m, "refused_lease_held")
  ELSE
  LET free == EndLease(m)
      waiting == {r \in free.rows.messages : r.finished = <<>> /\ ~r.quarantined}
      taken == {r \in waiting : Cardinality({s \in waiting : Before(s, r)}) <= max}
      fence == m.img.lease_fence + 1
      claimed == {[seq |-> r.seq, message |-> r.id, tier |-> r.tier, read |-> FALSE] : r \in taken}
  IN  IF taken = {} THEN Still(m, "refused_nothing_to_claim")
      ELSE Moved([free EXCEPT !.img.lease_fence = fence, !.live.lease = <<mono + LeaseLife>>,
                              !.img.lease = << [fence |-> fence, holder |-> holder, at |-> wall, claimed |-> claimed] >>],
                 "leased", TellAll(m, SetAside(m)))

StepRenew(m, fence) ==
  IF ~Holds(m, fence) THEN Still(m, "refused_lost_lease")
  ELSE Moved([m EXCEPT !.img.lease[1].at = wall, !.live.lease = <<mono + LeaseLife>>], "renewed", <<>>)

StepRelease(m, fence) ==
  IF ~Holds(m, fence) THEN Still(m, "refused_lost_lease")
  ELSE Moved(EndLease(m), "released", TellAll(m, SetAside(m)))

\* Where claimed work stands: a refusal, or "ok".
Workplace(m, fence, id) ==
  IF ~Holds(m, fence) THEN "refused_lost_lease"
  ELSE IF Row(m, id) = {} THEN "refused_unknown_message"
  ELSE IF The(Row(m, id)).finished # <<>> THEN "refused_already_finished"
  ELSE IF ~Covers(m, The(Row(m, id)).seq) THEN "refused_not_claimed"
  ELSE "ok"

(* INB-8: an attempt counts when claimed work is first read. *)
StepRead(m, fence, id) ==
  LET place == Workplace(m, fence, id) IN
  IF place # "ok" THEN Still(m, place)
  ELSE LET seq == The(Row(m, id)).seq
           c == Claim(m, seq)
           p == Progress(m.img, seq)
           read == [m EXCEPT
                      !.img.lease[1].claimed = Put(@, [c EXCEPT !.read = TRUE]),
                      !.img.progress = Put(@, [p EXCEPT !.attempts = @ + 1, !.read = TRUE]),
                      !.img.permit = IF @ = <<>> THEN <<>> ELSE << [@[1] EXCEPT !.read = TRUE] >>,
                      !.rows.messages = Put(@, [RowAt(m, seq) EXCEPT !.read = TRUE])]
       IN  IF c.read THEN Still(m, "absorbed") ELSE Moved(Settle(read, seq), "read", <<>>)

(* OBS-1, RCP-2: a turn ends in one way only. *)
StepFinishTurn(m, fence, id, turn, finish) ==
  LET place == Workplace(m, fence, id) IN
  IF place # "ok" THEN Still(m, place)
  ELSE LET row == The(Row(m, id))
           before == {e \in row.ended : e.turn = turn}
           last == << [turn |-> turn, finish |-> finish] >>
       IN
       IF ~Claim(m, row.seq).read THEN Still(m, "refused_not_claimed")
       ELSE IF before # {} THEN IF The(before).finish = finish THEN Still(m, "absorbed") ELSE Still(m, "refused_result_conflict")
       ELSE Moved([m EXCEPT !.img.progress = Put(@, [Progress(m.img, row.seq) EXCEPT !.turn = last]),
                            !.rows.messages = Put(@, [row EXCEPT !.turn = last, !.ended = @ \cup {last[1]}])],
                  "turn_finished", <<>>)

(* STN-6, INB-9: one result per message; a repeat is recognised whatever became of the lease. *)
StepRespond(m, fence, id, turn, response) ==
  LET result == << [turn |-> turn, response |-> response] >>
      known == Row(m, id)
      place == Workplace(m, fence, id)
  IN
  IF known # {} /\ The(known).response # <<>>
  THEN IF The(known).response = result THEN Still(m, "absorbed") ELSE Still(m, "refused_result_conflict")
  ELSE IF place # "ok" THEN Still(m, place)
  ELSE LET row == The(known)
           done == [m EXCEPT !.img.progress = Put(@, [Progress(m.img, row.seq) EXCEPT !.response = result]),
                             !.rows.messages = Put(@, [row EXCEPT !.response = result])]
       IN
       IF ~Claim(m, row.seq).read THEN Still(m, "refused_not_claimed")
       ELSE IF row.tier = 0 /\ response = "done" THEN Still(m, "refused_response_required")
       ELSE IF row.tier = 0 THEN Moved(done, "responded", <<>>)
       ELSE Moved(Finish(done, row.seq, "responded"), "responded", <<>>)

(* ACK-3, ACK-5…7. Key and signature first; then what is said, then what was done. `a` is the statement with what is
   known of it: [id, content, outcome, by, ahead, key, signature, target]; `fence` is <<>> or <<fence>>. *)
StepAck(m, a, fence) ==
  LET known == Row(m, a.id) IN
  IF a.key # "valid" THEN Still(m, IF a.key = "revoked" THEN "refused_ack_key_revoked" ELSE "refused_ack_wrong_key")
  ELSE IF ~a.signature THEN Still(m, "refused_ack_bad_signature")
  ELSE IF ~a.target THEN Still(m, "refused_ack_wrong_target")
  ELSE IF a.ahead > Skew THEN Still(m, "refused_ack_time_out_of_bounds")
  ELSE IF known = {} THEN Still(m, "refused_ack_unknown_message")
  ELSE LET row == The(known)
           p == Progress(m.img, row.seq)
           closed == [how |-> "acknowledged", outcome |-> a.outcome, by |-> a.by]
       IN
  IF row.tier # 0 THEN Still(m, "refused_ack_wrong_tier")
  ELSE IF row.content # a.content THEN Still(m, "refused_ack_wrong_content")
  ELSE IF row.closed # <<>>
    THEN IF row.closed = <<closed>> THEN Still(m, "absorbed") ELSE Still(m, "refused_already_acknowledged")
  ELSE IF a.by = "station" /\ (fence = <<>> \/ ~Holds(m, IF fence = <<>> THEN 0 ELSE fence[1])) THEN Still(m, "refused_lost_lease")
  ELSE IF a.by = "station" /\ ~Covers(m, row.seq) THEN Still(m, "refused_not_claimed")
  ELSE IF a.by = "station" /\ (p.turn = <<>> \/ p.turn[1].finish # "complete") THEN Still(m, "refused_ack_not_complete")
  ELSE IF a.by = "station" /\ p.response = <<>> THEN Still(m, "refused_ack_no_response")
  ELSE IF a.by # "station" /\ ~p.read THEN Still(m, "refused_ack_not_read")
  ELSE Moved(CloseWitness(m, row.seq, closed), "acknowledged", <<>>)

(* EMT-1…3: a token is allocated by the record that mints. *)
NextToken(img) == IF img.token # <<>> /\ img.token[1].epoch = img.epoch
                  THEN [epoch |-> img.epoch, counter |-> img.token[1].counter + 1]
                  ELSE [epoch |-> img.epoch, counter |-> 1]
Fresh(m) == Cardinality(m.rows.mints) + 1
Mint(m, w) == [m EXCEPT !.img.token = <<NextToken(m.img)>>,
                        !.rows.mints = @ \cup {[wake |-> Fresh(m), seq |-> w.seq, message |-> w.message,
                                                token |-> NextToken(m.img)]}]
Publish(m, w) == [kind |-> "publish", wake |-> Fresh(m), message |-> w.message, token |-> NextToken(m.img),
                  time |-> wall, expires |-> wall + HintLife]

MintOf(m, wake) == {k \in m.rows.mints : k.wake = wake}
Flying(m) == m.img.permit # <<>> /\ m.img.permit[1].flying
LivePermit(m) == m.img.permit # <<>> /\ m.live.permit # <<>> /\ mono < m.live.permit[1]

(* DSP-7: the plane's word before anything starts; the classes in their order. *)
StepAsk(m, daemon, q) ==
  LET k == MintOf(m, q.wake) IN
  IF k = {} \/ (k # {} /\ (The(k).message # q.message \/ The(k).token # q.token)) THEN Still(m, "withheld_unminted")
  ELSE LET mint == The(k) IN
  IF ~rights.rostered \/ ~rights.open THEN Still(m, "withheld_authority_withdrawn")
  ELSE IF ~rights.armed THEN Still(m, "withheld_not_armed")
  ELSE IF ~Has(Workable(m.img), mint.seq) THEN Still(m, "withheld_not_outstanding")
  ELSE IF Flying(m) \/ (LivePermit(m) /\ m.img.permit[1].daemon # daemon) THEN Still(m, "withheld_permit_held")
  ELSE Moved([m EXCEPT !.img.permit_fence = @ + 1, !.live.permit = <<mono + PermitLife>>, !.live.flying = FALSE,
                       !.img.permit = << [fence |-> m.img.permit_fence + 1, daemon |-> daemon, wake |-> q.wake,
                                          seq |-> mint.seq, message |-> mint.message, at |-> wall,
                                          flying |-> FALSE, read |-> FALSE] >>],
             "permitted", <<>>)

(* DSP-2: a flight that ends without inbox_read has cost an attempt; what is spent and not worked on is set aside. *)
EndFlight(m) ==
  LET f == m.img.permit[1]
      over == [m EXCEPT !.img.permit = <<>>, !.live.permit = <<>>, !.live.flying = FALSE]
      p == Progress(m.img, f.seq)
      counted == [over EXCEPT !.img.progress = Put(@, [p EXCEPT !.attempts = @ + 1])]
  IN  IF f.read \/ ~Has(m.img.witnesses, f.seq) THEN over
      ELSE IF Spent(Progress(counted.img, f.seq)) /\ ~Covers(m, f.seq) /\ ~p.quarantined THEN Quarantine(counted, f.seq)
      ELSE Settle(counted, f.seq)
FlightTells(m) ==
  LET f == m.img.permit[1]
      p == [Progress(m.img, f.seq) EXCEPT !.attempts = @ + 1]
  IN  IF ~f.read /\ Has(m.img.witnesses, f.seq) /\ Spent(p) /\ ~Covers(m, f.seq) /\ ~p.quarantined
      THEN <<Tell(f.message)>> ELSE <<>>

Note(m, wake, fence, fact) == [m EXCEPT !.rows.told = @ \cup {[wake |-> wake, fence |-> fence, fact |-> fact]}]
Told(m, wake, fence, fact) == [wake |-> wake, fence |-> fence, fact |-> fact] \in m.rows.told

(* DSP-2, DSP-7: only the daemon that has the permit reports of its flight. A permit that ran out unused may still have
   been used in time, so its report counts until another one replaces it; a flight beyond flight_max is over. *)
StepReport(m, daemon, fence, wake, report) ==
  LET permit == m.img.permit
      mine == permit # <<>> /\ permit[1].fence = fence /\ permit[1].wake = wake /\ permit[1].daemon = daemon
  IN
  IF MintOf(m, wake) = {} THEN Still(m, "withheld_unminted")
  ELSE IF ~mine \/ (Flying(m) /\ ~LivePermit(m)) THEN
    IF Told(m, wake, fence, report) THEN Still(m, "absorbed") ELSE Still(m, "refused_stale_ticket")
  ELSE IF report = "attempted" THEN
    IF Flying(m) THEN Still(m, "absorbed")
    ELSE Moved(Note([m EXCEPT !.img.permit[1].flying = TRUE, !.img.permit[1].at = wall, !.live.flying = TRUE,
                              !.live.permit = <<mono + FlightMax>>], wake, fence, report), "reported", <<>>)
  ELSE Moved(Note(EndFlight(m), wake, fence, report), "reported", FlightTells(m))

(* DSP-11: a hint for the oldest alert that may still wake its target, outside the schedule. *)
Oldest(ws) == CHOOSE w \in ws : \A v \in ws : w.seq <= v.seq
StepSweep(m) ==
  IF ~m.live.emitting THEN Still(m, "refused_tier0_closed")
  ELSE IF Flying(m) THEN Still(m, "withheld_permit_held")
  ELSE IF Workable(m.img) = {} THEN Still(m, "withheld_not_outstanding")
  ELSE IF ~rights.rostered \/ ~rights.open THEN Still(m, "withheld_authority_withdrawn")
  ELSE IF ~rights.armed THEN Still(m, "withheld_not_armed")
  ELSE Moved(Mint(m, Oldest(Workable(m.img))), "swept", <<>>)

\* EMT-4: a receipt; it changes nothing that decisions need.
StepPublished(m, wake) == IF MintOf(m, wake) = {} THEN Still(m, "withheld_unminted") ELSE Moved(m, "published", <<>>)

(* ACK-9, INB-8, INB-3: operator and age. *)
StepResolve(m, id) ==
  LET known == Row(m, id)
      resolved == [how |-> "operator_resolved", outcome |-> "", by |-> ""]
  IN
  IF known = {} THEN Still(m, "refused_unknown_message")
  ELSE IF The(known).tier # 0 THEN Still(m, "refused_ack_wrong_tier")
  ELSE IF The(known).closed = <<resolved>> THEN Still(m, "absorbed")
  ELSE IF The(known).closed # <<>> THEN Still(m, "refused_already_acknowledged")
  ELSE Moved(CloseWitness(m, The(known).seq, resolved), "resolved", <<>>)

StepReleaseQuarantine(m, id) ==
  LET known == Row(m, id) IN
  IF known = {} THEN Still(m, "refused_unknown_message")
  ELSE IF The(known).finished # <<>> THEN Still(m, "refused_already_finished")
  ELSE IF ~The(known).quarantined THEN Still(m, "absorbed")
  ELSE LET row == The(known)
           w == The(At(m.img.witnesses, row.seq))
           back == [m EXCEPT !.img.progress = Put(@, [Progress(m.img, row.seq) EXCEPT !.quarantined = FALSE, !.attempts = 0]),
                             !.rows.messages = Put(@, [row EXCEPT !.quarantined = FALSE, !.released = @ + 1])]
           pause == PauseBefore(w.emissions)
       IN  Moved(IF pause = <<>> THEN back
                 ELSE [back EXCEPT !.live.emissions = Put(@, [seq |-> row.seq, at |-> Resume(w.last, pause[1])])],
                 "quarantine_released", <<>>)

StepExpire(m, id) ==
  LET known == Row(m, id) IN
  IF known = {} THEN Still(m, "refused_unknown_message")
  ELSE IF The(known).finished # <<>> THEN Still(m, "absorbed")
  ELSE IF The(known).tier = 0 THEN Still(m, "refused_ack_wrong_tier")
  ELSE IF wall < The(known).admitted + MessageAge \/ (LiveLease(m) /\ Covers(m, The(known).seq)) THEN Still(m, "absorbed")
  ELSE Moved(Finish(m, The(known).seq, "expired"), "expired", <<>>)

(* Deadlines: the earliest first; among equals lease, flight, escalation, emission, and the oldest alert. *)
Waits(m) ==
  (IF m.img.lease # <<>> THEN {[at |-> m.live.lease[1], rank |-> 1, seq |-> 0]} ELSE {})
  \cup (IF m.live.flying THEN {[at |-> m.live.permit[1], rank |-> 2, seq |-> 0]} ELSE {})
  \cup {[at |-> e.at, rank |-> 3, seq |-> e.seq] : e \in m.live.escalations}
  \cup (IF m.live.emitting THEN {[at |-> e.at, rank |-> 4, seq |-> e.seq] : e \in m.live.emissions} ELSE {})
Sooner(a, b) == a.at < b.at \/ (a.at = b.at /\ (a.rank < b.rank \/ (a.rank = b.rank /\ a.seq <= b.seq)))

UseEmission(m, w) ==
  NextEmission([m EXCEPT !.img.witnesses = Put(@, [w EXCEPT !.emissions = @ + 1, !.last = wall])], w.seq, w.emissions + 1)
Emit(m, seq) ==
  LET w == The(At(m.img.witnesses, seq)) IN
  IF ~rights.rostered THEN Moved(UseEmission(m, w), "emission_refused_not_on_roster", <<>>)
  ELSE IF ~rights.armed THEN Moved(UseEmission(m, w), "emission_refused_not_armed", <<>>)
  ELSE IF ~rights.open THEN Moved(UseEmission(m, w), "emission_refused_tier0_closed", <<>>)
  ELSE Moved(UseEmission(Mint(m, w), w), "minted", <<Publish(m, w)>>)

StepFire(m) ==
  LET due == {w \in Waits(m) : w.at <= mono} IN
  IF due = {} THEN Still(m, "absorbed")
  ELSE LET next == CHOOSE a \in due : \A b \in due : Sooner(a, b) IN
  CASE next.rank = 1 -> Moved(EndLease(m), "lease_expired", TellAll(m, SetAside(m)))
    [] next.rank = 2 -> Moved(Note(EndFlight(m), m.img.permit[1].wake, m.img.permit[1].fence, "expired"),
                              "flight_expired", FlightTells(m))
    [] next.rank = 3 ->
       LET w == The(At(m.img.witnesses, next.seq)) IN
       Moved([m EXCEPT !.img.witnesses = Put(@, [w EXCEPT !.escalated = TRUE]), !.live.escalations = Drop(@, next.seq)],
             "escalated", <<Tell(w.message)>>)
    [] next.rank = 4 -> Emit(m, next.seq)

(* A recovery: no record and no effect; waits go on, clamped to their own length; nothing is minted before Start. *)
Woken(d) ==
  [img |-> d.img, rows |-> d.rows, live |->
    [lease       |-> IF d.img.lease = <<>> THEN <<>> ELSE <<Resume(d.img.lease[1].at, LeaseLife)>>,
     permit      |-> IF d.img.permit = <<>> THEN <<>>
                     ELSE <<Resume(d.img.permit[1].at, IF d.img.permit[1].flying THEN FlightMax ELSE PermitLife)>>,
     flying      |-> d.img.permit # <<>> /\ d.img.permit[1].flying,
     escalations |-> {[seq |-> w.seq, at |-> Resume(w.opened, Escalate)] : w \in {v \in d.img.witnesses : ~v.escalated}},
     emissions   |-> {[seq |-> w.seq, at |-> Resume(w.last, PauseBefore(w.emissions)[1])]
                      : w \in {v \in Workable(d.img) : PauseBefore(v.emissions) # <<>>}},
     emitting    |-> FALSE]]

Admissions == {"duplicate_conflict", "self_wake", "target_cannot_ack", "roster_absent", "roster_malformed",
               "roster_expired", "not_on_roster", "tier0_closed", "queue_full"}
Work == {"lease_held", "nothing_to_claim", "lost_lease", "unknown_message", "already_finished", "not_claimed",
         "result_conflict", "response_required", "stale_ticket"}
Acks == {"ack_key_revoked", "ack_wrong_key", "ack_bad_signature", "ack_wrong_target", "ack_time_out_of_bounds",
         "ack_unknown_message", "ack_wrong_tier", "ack_wrong_content", "already_acknowledged", "ack_not_complete",
         "ack_no_response", "ack_not_read"}
Classes == {"unminted", "authority_withdrawn", "not_armed", "not_outstanding", "permit_held"}
Refusals == {"refused_" \o r : r \in Admissions \cup Work \cup Acks} \cup {"withheld_" \o c : c \in Classes}
Advances(out) == out # "absorbed" /\ out \notin Refusals

------------------------------------------------------------------------------
(* 2. The process *)

Down == [up |-> <<>>, staged |-> 0, eff |-> <<>>]
IsUp == proc.up # <<>>
M == proc.up[1]
Room == IsUp /\ proc.staged < Batch
Durable(m) == [img |-> m.img, rows |-> m.rows]
Within(m) == /\ m.img.last <= MaxMessages /\ Cardinality(m.rows.mints) <= MaxMints /\ m.img.lease_fence <= MaxLeases
             /\ m.img.permit_fence <= MaxPermits /\ m.img.epoch <= MaxEpoch
             /\ \A r \in m.rows.messages : r.released <= 1

Init == /\ disk = [img |-> FreshImage, rows |-> FreshRows] /\ proc = Down /\ wall = FirstWall /\ mono = 0
        /\ rights = [rostered |-> TRUE, armed |-> TRUE, open |-> TRUE]

Take(s, out) ==
  /\ s.out = out
  /\ IF Advances(out)
     THEN /\ Within(s.m)
          /\ proc' = [up |-> <<s.m>>, staged |-> proc.staged + 1, eff |-> proc.eff \o s.eff]
          /\ UNCHANGED <<disk, rights, wall, mono>>
     ELSE UNCHANGED vars

Boot ==
  /\ ~IsUp
  /\ proc' = [up |-> <<Woken(disk)>>, staged |-> 1, eff |-> <<>>]
  /\ UNCHANGED <<disk, rights, wall, mono>>

Commit ==
  /\ IsUp /\ proc.staged > 0
  /\ disk' = Durable(M) /\ proc' = [up |-> proc.up, staged |-> 0, eff |-> <<>>]
  /\ UNCHANGED <<rights, wall, mono>>

CommitFails(fate) ==
  /\ IsUp /\ proc.staged > 0 /\ fate \in Fates
  /\ disk' = IF fate = "written" THEN Durable(M) ELSE disk
  /\ proc' = Down
  /\ UNCHANGED <<rights, wall, mono>>

Crash == IsUp /\ MayCrash /\ proc' = Down /\ mono' = 0 /\ UNCHANGED <<disk, rights, wall>>

Tick ==
  /\ IsUp /\ proc.staged = 0 /\ mono < MaxMono /\ wall < MaxWall
  /\ mono' = mono + 1 /\ wall' = wall + 1
  /\ UNCHANGED <<disk, proc, rights>>

ClockBack(by) ==
  /\ by \in Backs /\ wall >= by /\ proc.staged = 0
  /\ wall' = wall - by
  /\ UNCHANGED <<disk, proc, rights, mono>>

Withdraw(right) ==
  /\ right \in Rights /\ proc.staged = 0 /\ rights[right]
  /\ rights' = [rights EXCEPT ![right] = FALSE] /\ UNCHANGED <<disk, proc, wall, mono>>
GiveBack(right) ==
  /\ right \in Rights /\ proc.staged = 0 /\ ~rights[right]
  /\ rights' = [rights EXCEPT ![right] = TRUE] /\ UNCHANGED <<disk, proc, wall, mono>>

------------------------------------------------------------------------------
(* 3. What holds *)

TypeOK ==
  /\ disk.img.last \in 0..MaxMessages /\ disk.img.cursor \in 0..disk.img.last
  /\ \A r, s \in disk.rows.messages : r.seq = s.seq => r = s
  /\ \A w, v \in disk.img.witnesses : w.seq = v.seq => w = v
  /\ wall \in 0..MaxWall /\ mono \in 0..MaxMono
  /\ IsUp => /\ M.live.emitting \in BOOLEAN
             /\ (M.img.lease = <<>>) <=> (M.live.lease = <<>>)
             /\ (M.img.permit = <<>>) <=> (M.live.permit = <<>>)
             /\ M.live.flying <=> Flying(M)

FML_1_live_is_durable == IsUp /\ proc.staged = 0 => Durable(M) = disk
FML_1_sealed == proc.staged = 0 => proc.eff = <<>>
FML_1_fire == IsUp => (Advances(StepFire(M).out) <=> \E w \in Waits(M) : w.at <= mono)
\* INB-2: places are gapless from 1.
INB_2_gapless == {r.seq : r \in disk.rows.messages} = 1..disk.img.last
\* INB-4: the cursor is the greatest n so that 1..n are finished.
Finished(d) == {r.seq : r \in {q \in d.rows.messages : q.finished # <<>>}}
INB_4_cursor == /\ 1..disk.img.cursor \subseteq Finished(disk) /\ (disk.img.cursor + 1) \notin Finished(disk)
                /\ disk.img.ahead = {n \in Finished(disk) : n > disk.img.cursor}
\* ACK-1, INB-1: an alert has its witness until it is closed, and then none.
ACK_1_witness == \A r \in disk.rows.messages : r.tier = 0 => (Has(disk.img.witnesses, r.seq) <=> r.closed = <<>>)
\* ACK-2: the cursor never reaches an outstanding witness.
ACK_2_barrier == \A w \in disk.img.witnesses : w.seq > disk.img.cursor
\* INB-3: an alert is finished exactly if its witness is closed; mail needs a recorded reason, and reading is none.
INB_3_finished == \A r \in disk.rows.messages :
  IF r.tier = 0 THEN (r.finished # <<>>) <=> (r.closed # <<>>)
  ELSE r.finished # <<>> => \/ r.finished = <<"responded">> /\ r.response # <<>>
                            \/ r.finished = <<"quarantined">> /\ r.quarantined
                            \/ r.finished = <<"expired">>
\* INB-8: attempts are bounded; what is spent is set aside once nobody works on it.
INB_8_bounded == \A p \in disk.img.progress :
  Spent(p) /\ ~p.quarantined => disk.img.lease # <<>> /\ Has(disk.img.lease[1].claimed, p.seq)
\* INB-7: nothing finished and nothing set aside is under a lease.
INB_7_lease == disk.img.lease # <<>> =>
  \A c \in disk.img.lease[1].claimed : ~IsFinished(disk.img, c.seq) /\ ~Progress(disk.img, c.seq).quarantined
\* ACK-5: a station's ACK stands on a complete turn and a result; the others' on a read.
ACK_5_earned == \A r \in disk.rows.messages : r.closed # <<>> /\ r.closed[1].how = "acknowledged" =>
  /\ r.read
  /\ r.closed[1].by = "station" => r.turn # <<>> /\ r.turn[1].finish = "complete" /\ r.response # <<>>
\* EMT-1, EMT-2: every token once, and none of an epoch that is not on disk.
EMT_1_once == \A k, j \in disk.rows.mints : k.token = j.token => k = j
EMT_2_epoch == \A k \in disk.rows.mints : k.token.epoch <= disk.img.epoch
\* EMT-3: the schedule is bounded.
EMT_3_schedule == \A w \in disk.img.witnesses : w.emissions <= ReEmissions + 1
\* EMT-1: a hint leaves with the commit that allocates its token.
EMT_1_allocated == \A i \in DOMAIN proc.eff : proc.eff[i].kind = "publish" =>
  \E k \in M.rows.mints : k.wake = proc.eff[i].wake /\ k.token = proc.eff[i].token
\* PRT-2
PRT_2_queue == disk.img.queued = Cardinality({r \in disk.rows.messages : r.finished = <<>>}) /\ disk.img.queued <= Queue + Reserve

Goes == proc.up # <<>> /\ proc'.up # <<>>
New == proc'.up[1]
\* INB-4, INB-7, EMT-1, DSP-7: what only rises.
INB_4_never_back == [][disk'.img.cursor >= disk.img.cursor]_vars
INB_7_fences_rise == [][disk'.img.lease_fence >= disk.img.lease_fence]_vars
DSP_7_fences_rise == [][disk'.img.permit_fence >= disk.img.permit_fence]_vars
TokenLE(a, b) == a.epoch < b.epoch \/ (a.epoch = b.epoch /\ a.counter <= b.counter)
EMT_1_tokens_rise == [][disk.img.token # <<>> => disk'.img.token # <<>> /\ TokenLE(disk.img.token[1], disk'.img.token[1])]_vars
\* ACK-7, ACK-9: a closed witness stays as it was closed.
ACK_7_stays == [][\A r \in disk.rows.messages : r.closed # <<>> =>
                    \E s \in disk'.rows.messages : s.seq = r.seq /\ s.closed = r.closed]_vars
\* STN-6: one result per message.
STN_6_one_result == [][\A r \in disk.rows.messages : r.response # <<>> =>
                         \E s \in disk'.rows.messages : s.seq = r.seq /\ s.response = r.response]_vars
\* INB-7: a new lease only when no other holder works.
INB_7_one_lease == [][Goes /\ New.img.lease_fence # M.img.lease_fence => ~LiveLease(M) \/ M.img.lease[1].claimed = {}]_vars
\* DSP-7: one permit at a time that may be used, and none during a flight.
DSP_7_one_permit == [][Goes /\ New.img.permit_fence # M.img.permit_fence
                       => ~Flying(M) /\ (LivePermit(M) => M.img.permit[1].daemon = New.img.permit[1].daemon)]_vars
\* DSP-7, ADM-6: without authority nothing is permitted and nothing is hinted at.
ADM_6_authority == [][Goes /\ (New.img.permit_fence # M.img.permit_fence \/ New.img.token # M.img.token)
                      => rights.rostered /\ rights.armed /\ rights.open]_vars
\* ADM-3: without a right to it no alert is admitted.
ADM_3_alerts == [][Goes /\ Cardinality(New.img.witnesses) > Cardinality(M.img.witnesses) => rights.rostered /\ rights.open]_vars
\* DSP-11, EMT-3: a hint is only ever about an alert that is outstanding and not set aside.
EMT_3_outstanding == [][Goes /\ New.rows.mints # M.rows.mints =>
                          \A k \in New.rows.mints \ M.rows.mints : Has(Workable(M.img), k.seq)]_vars
\* EMT-2: nothing is minted before the epoch of this boot.
EMT_2_started == [][Goes /\ New.rows.mints # M.rows.mints => M.live.emitting]_vars
\* DSP-2: a flight that ends without a read has cost an attempt.
DSP_2_costs == [][Goes /\ Flying(M) /\ New.img.permit = <<>> /\ ~M.img.permit[1].read /\ Has(New.img.witnesses, M.img.permit[1].seq)
                  => Progress(New.img, M.img.permit[1].seq).attempts > Progress(M.img, M.img.permit[1].seq).attempts]_vars
\* INB-8: quarantine tells the operator in the same step.
INB_8_told == [][Goes /\ proc'.staged > proc.staged
                 => \A r \in New.rows.messages : r.quarantined /\ (\E s \in M.rows.messages : s.seq = r.seq /\ ~s.quarantined)
                    => \E i \in DOMAIN proc'.eff : proc'.eff[i].kind = "tell_operator" /\ proc'.eff[i].message = r.id]_vars
=============================================================================
