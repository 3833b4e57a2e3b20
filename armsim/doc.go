// Package armsim is a simulator of Azure Resource Manager: an http.Handler that
// behaves like ARM on the wire, strictly enough that other people's clients
// work against it unchanged. It keeps resources in memory and starts no
// goroutine of its own: time passes when a request arrives.
//
// It owns the simulated server only. It imports nothing else of this module, so
// that a mistake of the product's ARM client cannot look like agreement.
//
// # Rules it follows
//
// Written sources: the Resource Provider Contract (async API reference,
// addendum), "Track asynchronous Azure operations", "Throttling Resource
// Manager requests" and ARM's error codes page. Shapes, headers and messages
// follow recorded traffic where a record exists.
//
// # Time
//
// All durations of the simulator (operations, bucket refills, registration,
// read-after-write delay) are simulated time; TimeScale says how many simulated
// seconds pass in one real second. A Retry-After is sent in real time: rounded
// up to whole seconds, and exact in retry-after-ms where that differs.
//
// # What refuses a change
//
// Tables say what Azure refuses; a type that no row names is free.
//
// Siblings: a parent and its children change one at a time where the provider
// wants that. Network: 409 AnotherOperationInProgress (virtual networks with
// subnets and peerings, security groups with rules, ...) or, for routes, 429
// RetryableError with the detail RetryableErrorDueToAnotherOperation. Kubernetes
// clusters with their pools: 409 OperationNotAllowed. Federated credentials of
// one identity while their requests overlap (a write takes a simulated second):
// 409 ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity.
// PostgreSQL and MySQL flexible servers accept the write, and its operation fails
// with ServerIsBusy (the server itself: ProvisioningServerBusy); below one that is
// stopped, starting or stopping nothing changes (400 ServerStoppedError). Counters hold
// siblingRefusals, per type of the parent.
//
// References: Network wants what a body names to be there (400
// InvalidResourceReference) and at rest (429 RetryableError with the detail
// ReferencedResourceNotProvisioned, without Retry-After).
//
// Use: what another resource names by ID is not deleted, nor is its parent (400
// InUseSubnetCannotBeDeleted, PublicIPAddressCannotBeDeleted, NicInUse, ...),
// also not by a parent's list that leaves it out. A Kubernetes cluster keeps its
// last system pool (400 OperationNotAllowed). A private DNS zone with links stays
// (409 CannotDeleteResource). Types without DELETE answer 405.
//
// Locks: Microsoft.Authorization/locks at any scope, inherited downwards. Both
// levels refuse a DELETE of what they cover, and of everything above it, with 409
// ScopeLocked; ReadOnly refuses PUT, PATCH and POST as well. A list at a scope
// shows the locks above and below too; $filter=atScope() leaves out those below.
//
// # Children inside their parent
//
// subnets and virtualNetworkPeerings of a virtual network, securityRules, routes
// and agentPoolProfiles are the same things as the children's own resources: a
// GET of the parent shows them, a PUT of the parent replaces them, and what its
// list leaves out is deleted. A body without the list deletes them all, but not
// for agentPoolProfiles, nor for virtual networks from api-version 2023-09-01 on.
//
// # Private endpoints
//
// An automatic connection is Pending for a while after the endpoint was created
// (Options.Approval) and then Approved; a manual one is Pending until the control
// API decides, or for as long as Options.ManualApproval says. Options.PrivateEndpointInterfaces adds the network interface that
// Azure makes for an endpoint: a resource that nobody asked for, which cannot be
// deleted by itself (400 NicInUseWithPrivateEndpoint) and goes with the endpoint.
//
// # Machines of a scale set
//
// They come and go with sku.capacity (Uniform orchestration), the newest first:
// Creating or Deleting while the set's operation goes on. One that is deleted by
// itself is not replaced: the capacity shrinks. POSTs delete and manualupgrade
// take {"instanceIds":["0"]}. No PUT makes one (404).
//
// # Peerings
//
// peeringState is Initiated until the other network has a peering back, then
// Connected on both sides; Disconnected when the other side goes. A side that is
// Disconnected has to be put before the other one (400 RemotePeeringIsDisconnected).
//
// # Storage accounts
//
// Creating, then ResolvingDNS. A name is nobody else's in all subscriptions (409
// StorageAccountAlreadyTaken). POST failover of a geo-redundant account takes the
// primary region away for a while, and the secondary one takes its place.
//
// # Deleting a resource group
//
// Its resources go one after the other while the operation goes on: users before
// what they use, children before parents. What something outside the group uses
// stays; the operation ends with 409 ResourceGroupDeletionBlocked, and the group
// is Succeeded again.
//
// # Recordings
//
// Options.Recordings hold what Azure answered once: a PUT of a recorded ID is
// answered with the recorded PUT response, and GETs show the recorded body when
// the operation is done. A recording with the same putBody wins; else the first
// of the ID answers the first body and its repeats. A body that differs from
// that later meets the server's own rules.
//
// # Other paths
//
// /metadata/endpoints describes the cloud to clients that are given a host only.
// Types without GET (405, recorded for two of API Management) exist by HEAD and
// by their parent's list.
//
// # Control API
//
// Everything under /_sim/ takes and answers JSON and needs no token. Globs
// match without regard to case; * stands for any run of characters (slashes
// too), ? for one; brackets stand for themselves.
//
//	GET    /_sim/health                    {"status":"ok"}
//	GET    /_sim/time                      {"now","scale"}
//	PUT    /_sim/time                      {"scale":60} and/or {"advanceSeconds":600}
//	POST   /_sim/reset                     forget requests, counters and writes; ?all=true also resources, faults, rules
//
//	GET    /_sim/counters                  Counters, with siblingRefusals
//	GET    /_sim/requests                  [Request], oldest first; ?method= &type= &id= &kind= (type and id are globs)
//	GET    /_sim/writes                    [Write]: accepted PUT, PATCH and DELETE; ?id= glob
//	GET    /_sim/secrets                   {"values":[...]}: every secret value that the server made or was given
//	POST   /_sim/secrets                   {"type":glob,"properties":["primaryKey"]}: GETs of the type return such a key
//
//	GET    /_sim/resources                 [Stored]; ?id= or ?type= glob
//	PUT    /_sim/resources                 {"id","body"}: put out of band, no operation, parents are made as needed
//	PATCH  /_sim/resources                 {"id","patch"}: JSON merge patch on what is stored
//	DELETE /_sim/resources?id=ID           delete out of band, with everything below
//	PUT    /_sim/state                     {"id","provisioningState","properties":{...}}: set a state, end its operation
//
//	GET    /_sim/faults                    [Fault] with matched, fired and waiting
//	POST   /_sim/faults                    Fault, answers it with its id
//	DELETE /_sim/faults[/{id}]             remove (a gate lets go of what it holds)
//	POST   /_sim/faults/{id}/release       let go of what a gate holds and stop holding
//
//	GET    /_sim/operations                [OperationStatus]
//	POST   /_sim/operations                OperationRule: shape, duration and outcome of later operations
//	DELETE /_sim/operations                remove the rules added here
//	POST   /_sim/holds                     {"type":glob,"id":glob}: matching operations, running or later, do not end
//	DELETE /_sim/holds                     end all holds
//
//	PUT    /_sim/providers                 {"namespace","registrationState"} for all subscriptions
//	POST   /_sim/deny                      {"scope":glob,"method":"*"}: 403 AuthorizationFailed for matching IDs
//	DELETE /_sim/deny                      allow everything again
//	PUT    /_sim/throttle                  Throttle; {} switches it off
//	PUT    /_sim/options                   {"readAfterWriteSeconds":5,"approvalSeconds":20,"manualApprovalSeconds":300}: what is left out stays
//	GET    /_sim/policies                  [Policy]
//	POST   /_sim/policies                  Policy: a modify policy adds tags to what is put, a deny policy refuses it
//	DELETE /_sim/policies[/{name}]         remove
//	POST   /_sim/types                     TypeLimit: unknown types, api-versions and locations that are not offered
//	DELETE /_sim/types                     offer everything again
//	POST   /_sim/connections               Approval: {"id","connection","status","description"} of a private endpoint;
//	                                       automatic connections are Approved after approvalSeconds, manual ones wait for this,
//	                                       or for manualApprovalSeconds where that is not 0
package armsim
