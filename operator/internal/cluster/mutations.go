package cluster

// mutation names a rule that a test takes out, to see that the model notices. Only programs built with the tag `mutants` can,
// and none but that test is: elsewhere mutated is always false, and the compiler leaves out what asks for it.
type mutation string

const (
	forcedUpdates            mutation = "1: status updates do not carry the resourceVersion that was read"
	epochNotRaised           mutation = "1: a claim takes the epoch on record, not a higher one"
	copiesAreMembers         mutation = "2: a volume with a member's UUID is that member, whatever volume it is"
	emptiedIsCounted         mutation = "2: an emptied server takes the place of its predecessor in the quorum"
	halfIsEnough             mutation = "3: R + W >= M covers a quorum"
	priorQuorumsIgnored      mutation = "3: prior quorums need not be covered"
	establishedEarly         mutation = "3: the quorum is established before its members hold everything"
	engineBeforeRecord       mutation = "3: the engine is told of a weaker quorum before the record has it"
	asyncIsCounted           mutation = "3: what a master may have acknowledged by itself is looked for on its replicas"
	floorIgnored             mutation = "3: required lets the wait count fall to 0"
	electionByGTIDAlone      mutation = "4: the longest log wins, whatever epoch it ends in"
	electionUncovered        mutation = "4: one fenced server is enough to elect"
	keptOutIsElected         mutation = "4: a server that is fenced by hand may be elected"
	keptOutLogIgnored        mutation = "3: what only a server that is fenced by hand holds is not looked for"
	lossBesideARunningMaster mutation = "3: a loss is accepted though the former master may run"
	lossForgetsTheRest       mutation = "3: after a loss that was accepted nobody need have what the promoted server had"
	promotedBeforePersisted  mutation = "4: the winner is promoted before it is on record"
	demotingIsFenced         mutation = "4: a server that has promised the epoch counts before it has stepped down"
	operatorAloneLoses       mutation = "5: a master that the operator does not reach is lost"
	endedIsNotAwaited        mutation = "5: a master that has ended is replaced though another one would have nothing acknowledged"
	waitingIsCutOff          mutation = "5: a master is cut off when a write has waited, though its replicas hear it"
	restartNotAwaited        mutation = "8: the next server is taken down before the one before serves again"
	countedMayLeave          mutation = "3: a server leaves, and its volume is deleted, while it is still counted"
	hibernatedIsFailedOver   mutation = "8: a cluster that hibernates is looked after"
	leaseNotWaited           mutation = "6: a master is promoted before the lease of the former one is over"
	lastLeaseOnly            mutation = "6: while the lease changes, the former one is not waited for"
	anyHasNotHeard           mutation = "6: a lease is counted from when the first of the fenced has heard the master last"
	silenceOfFew             mutation = "6: those that do not know when they heard the master last have not heard it for as long as the others"
	shortenedIsOld           mutation = "6: a lease that became shorter is counted from when the master was heard last, not from the fencing"
	handoverKept             mutation = "9: a handover that came to nothing is not taken back"
	demotedBeforeCaughtUp    mutation = "9: a switchover demotes before the target holds everything"
)
