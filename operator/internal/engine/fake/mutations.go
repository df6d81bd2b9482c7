package fake

// Mutation names a rule of the servers that a test takes out, to see that the model notices. Only the build tag `mutants` can.
type Mutation string

// The servers' mutations.
const (
	// EpochNotChecked: a server takes commands of epochs that are older than what it has promised.
	EpochNotChecked Mutation = "servers do not check epochs"
	// PromotedUnasked: whatever server answers is promoted, though another process was meant.
	PromotedUnasked Mutation = "a promotion reaches a process that its epoch has not fenced"
	// ClonedUnasked: whatever server answers is cloned into, though another process was meant.
	ClonedUnasked Mutation = "a clone replaces the data of a server that it is not meant for"
	// TailKept: a server that follows another master keeps what that one does not have.
	TailKept Mutation = "7: an old master follows without cutting its tail"
	// FloorFromLog: a server whose tail was cut goes on with the numbers of what it cut.
	FloorFromLog Mutation = "a cut forgets which numbers were given"
)
