package activities

// CommandOrder is the newest order of workflow commands that this worker knows. The first
// step of a pass reports it, and the run follows it from there: the history shows which
// order its worker had, without an event of its own.
//
//   - 1: the first read of a resource is a local activity, and a creation for which nothing
//     waits notifies later.
//   - 2: a run that continues as new leaves the notifications that take long to the next one.
//   - 3: a resource with exports has the step Export. It follows the order of the pass, whatever
//     its starter knew.
const CommandOrder = 3
