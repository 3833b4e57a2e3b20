// Package armsim is a simulator of Azure Resource Manager: an http.Handler that
// behaves like ARM on the wire, strictly enough that the clients of other projects
// work against it unchanged. It keeps resources in memory and starts no goroutine
// of its own: time passes when a request arrives.
//
// It owns the simulated server only. It shares no code with the rest of this module: it
// reads the packed file of the published types by itself (package published), so that a
// mistake of the product cannot look like agreement.
//
// # Files
//
// simulator.go receives requests, handle_*.go serve them by method and kind,
// change_*.go record and report changes, queue*.go serve storage queues,
// check_*.go refuse them, type_*.go describe resource types (the table is in
// type_table.go), operation_*.go simulate long-running operations, resource_*.go
// store and render resources, and control_*.go implement the control API.
//
// # Sources
//
// Written sources: the Resource Provider Contract (async API reference,
// addendum), "Track asynchronous Azure operations", "Throttling Resource
// Manager requests" and ARM's error codes page. Shapes, headers and messages
// follow recorded traffic where a recording exists.
//
// # Time
//
// All durations of the simulator (operations, bucket refills, registration,
// read-after-write delay) are simulated time; TimeScale is the number of simulated
// seconds in one real second. A Retry-After is sent in real time: rounded up to
// whole seconds, and exact in retry-after-ms where that differs.
//
// # Bodies
//
// Microsoft publishes the properties of every type in every api-version; a version that
// is not published has the shape of the nearest earlier one. A PUT or PATCH keeps what
// the type has: unknown properties are dropped without a word, as most providers do,
// read-only ones keep the server's value, and names in another letter case are shown as
// published. Types that are not published keep everything, as do changes by the control
// API and recorded IDs.
//
// With Options.Validate such bodies are refused instead (400): unknown properties,
// values of another kind or outside of a closed list, and creations that lack a required
// property. ARM itself refuses unknown members beside "properties"
// (InvalidRequestContent), Compute unknown properties (BadRequest), Kubernetes clusters
// those of 2024-01-01 and later (UnmarshalError); other providers are not known to. The
// codes and words are those of the provider where a source shows them, else ARM's, with a
// detail for each fault if a body has several; see check_body_words.go. A name in another letter case, a number in a text, and read-only
// properties are accepted.
//
// # Refused changes
//
// Tables list what Azure refuses; a type without a row is not restricted.
//
// Siblings: a parent and its children change one at a time where the provider
// requires it. Network: 409 AnotherOperationInProgress (virtual networks with
// subnets and peerings, security groups with rules, ...) or, for routes, 429
// RetryableError with the detail RetryableErrorDueToAnotherOperation. Kubernetes
// clusters with their pools: 409 OperationNotAllowed. Federated credentials of
// one identity while their requests overlap (a write takes a simulated second):
// 409 ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity.
// PostgreSQL and MySQL flexible servers accept the write, and its operation fails
// with ServerIsBusy (for the server itself: ProvisioningServerBusy); below a server
// that is stopped, starting or stopping nothing changes (400 ServerStoppedError).
// The counters include siblingRefusals, by type of the parent.
//
// References: the Network provider requires that every resource which a body
// refers to exists (400 InvalidResourceReference) and is in Succeeded (429
// RetryableError with the detail ReferencedResourceNotProvisioned, without
// Retry-After).
//
// Changes: values that are decided at the creation, and those that only grow. Disks and
// the storage of PostgreSQL and MySQL servers do not shrink, Kubernetes versions and tiers
// do not go down, and customData, images, sizes of pools, partition keys and others do
// not change (the table in check_change_table.go, with a source for each row). Only what
// a body states is compared.
//
// Use: a resource that another one refers to by ID cannot be deleted, nor can its
// parent (400 InUseSubnetCannotBeDeleted, PublicIPAddressCannotBeDeleted, NicInUse,
// ...), nor by a parent's list that omits it. A Kubernetes cluster keeps its last
// system pool (400 OperationNotAllowed). A private DNS zone with links cannot be
// deleted (409 CannotDeleteResource). Types without DELETE return 405.
//
// Locks: Microsoft.Authorization/locks at any scope, inherited downwards. Both
// levels refuse a DELETE of what they cover, and of everything above it, with 409
// ScopeLocked; ReadOnly refuses PUT, PATCH and POST as well. A list at a scope
// includes the locks above and below; $filter=atScope() omits those below.
//
// Creation: lists of resource groups and flat lists of resources show createdTime with
// $expand=createdTime. No GET shows the time at which a group was created.
//
// # Values that Azure moves
//
// While a switch is on, the values that it owns belong to Azure: an autoscale setting or
// the autoscaler of a pool changes a count, an upgrade channel a version and the images of
// the nodes, auto-inflate and auto-grow a size, high availability and service-managed
// failover a zone or a priority (the table in type_owners.go, with a source for each row).
// Act lets the owner move such a value, within its limits; it fails if the switch is off.
// A write of a client stays possible, as in Azure.
//
// # Children inside their parent
//
// subnets and virtualNetworkPeerings of a virtual network, securityRules, routes
// and agentPoolProfiles are the same as the resources of the children: a GET of
// the parent returns them, a PUT of the parent replaces them, and deletes those
// that its list omits. A body without the list deletes them all, except for
// agentPoolProfiles, and for virtual networks from api-version 2023-09-01 on.
//
// # Private endpoints
//
// An automatic connection is Pending for a while after the endpoint was created
// (Options.Approval) and then Approved. A manual one is Pending until the control
// API decides, or for the time of Options.ManualApproval.
// Options.PrivateEndpointInterfaces adds the network interface that Azure creates
// for an endpoint: it cannot be deleted by itself (400 NicInUseWithPrivateEndpoint)
// and is deleted with the endpoint.
//
// # Machines of a scale set
//
// Their number follows sku.capacity (Uniform orchestration); the newest ones are
// removed first. They are Creating or Deleting while the set's operation is in
// progress. A machine that is deleted by itself is not replaced: the capacity
// shrinks. POSTs delete and manualupgrade take {"instanceIds":["0"]}. A PUT cannot
// create a machine (404).
//
// # Peerings
//
// peeringState is Initiated until the other network has a peering in the opposite
// direction, then Connected on both sides; Disconnected when the other side is
// deleted. A side that is Disconnected must be put before the other one (400
// RemotePeeringIsDisconnected).
//
// # Storage accounts
//
// Creating, then ResolvingDNS. Names are unique over all subscriptions (409
// StorageAccountAlreadyTaken). POST failover of a geo-redundant account makes the
// primary region unavailable for a while; then the secondary region replaces it.
//
// # Deletion of a resource group
//
// Its resources are deleted one after the other while the operation is in
// progress: users before what they use, children before parents. Resources that
// something outside the group uses stay; the operation then ends with 409
// ResourceGroupDeletionBlocked, and the group is Succeeded again.
//
// # Secrets
//
// A GET shows no text with the name of a password or secret, nothing that is published
// as write-only, and no secret of the table in type_secrets.go; some types show asterisks
// in its place. The server keeps them, and the type's action lists them. A PUT that omits
// them removes them, as it removes every other member that it omits, except those of
// the table in type_omitted.go; some types refuse it.
//
// # Keys
//
// The actions of the table in type_keys.go list keys in the form of their published output.
// An action of the table that regenerates a key changes it and what contains it.
//
// # Key vaults
//
// With Options.VaultSuffix, requests whose host is NAME.SUFFIX are for the secrets of a key
// vault: versions, tags, soft delete, recovery and purge, disabled versions. A request
// without a token gets the challenge; the control API denies access as a role, an access
// policy or a firewall does.
//
// # Recovery
//
// A deleted vault, Cognitive Services account, API Management service or App
// Configuration store holds its name (409 with the service's code) until a PUT
// recovers it with everything in it, or it is purged at the provider's path of deleted
// resources. The name of a deleted storage account is free at once; an account that is
// created under it ends the recovery. Recover does what the portal does. Azure deletes
// deployment scripts by itself when their retentionInterval has passed.
//
// # Changes
//
// Every accepted write, deletion and action is recorded when its effect happens: of an
// asynchronous operation at its end. The author comes from the token (upn or appid) and the
// user agent. A change out of band has the author of the control action (see
// [Simulator.As]), changes that an owner moves and effects on other resources have System.
//
// Resource Graph has a record of each change of a resource in its table resources, in
// resourcechanges, and of a group, in resourcecontainerchanges. It compares snapshots: a
// change of a child that the parent contains is one of the parent, a write that changes
// nothing has no record, and two updates of one moment have one. Records become visible
// after a delay and are dropped after 14 days. ChangeReports configures delays, losses,
// doubles and disorder. Timestamps are in real time, because the clocks of clients do not
// follow the simulated one.
//
// Event Grid raises an event of each change that a request made, of actions and failures
// too, and puts it in the storage queues that are subscribed: by SubscribeQueue, or by an
// event subscription (of a system topic or of a scope) among the resources, whose queue is a
// resource too. A queue has
// the path /_queue/ACCOUNT/QUEUE and the REST API of Storage: messages in base64, visibility
// timeouts, pop receipts, dequeue counts. A visibility timeout is in real time, as a
// Retry-After is. Denials and faults have the queue as /queues/ACCOUNT/QUEUE.
//
// # Recordings
//
// Options.Recordings contain Azure's recorded responses: a PUT of a recorded ID
// returns the recorded PUT response, and GETs return the recorded body when the
// operation is done. A recording with the same putBody takes precedence; otherwise
// the first of the ID serves the first body and its repeats. A different body
// after that follows the server's own rules.
//
// # Other paths
//
// /metadata/endpoints describes the cloud to clients that know a host only. Types
// without GET (405, recorded for two of API Management) are visible by HEAD and in
// their parent's list.
//
// # Control API
//
// Everything under /_sim/ takes and returns JSON and needs no token. Globs match
// without regard to case; * matches any run of characters (slashes too), ? any one
// character; brackets are literal.
//
//	GET    /_sim/health                    {"status":"ok"}
//	GET    /_sim/time                      {"now","scale"}
//	PUT    /_sim/time                      {"scale":60} and/or {"advanceSeconds":600}
//	POST   /_sim/reset                     clear requests, counters and writes; ?all=true also resources, faults, rules
//
//	GET    /_sim/counters                  Counters, with siblingRefusals
//	GET    /_sim/requests                  [Request], oldest first; ?method= &type= &id= &kind= (type and id are globs)
//	GET    /_sim/writes                    [Write]: accepted PUT, PATCH and DELETE; ?id= glob
//	GET    /_sim/changes                   [Change]: writes, deletions and actions when their effect happens, oldest first; ?id= &type= &by= globs
//	GET    /_sim/secrets                   {"values":[...]}: every secret value that the server made or received
//	POST   /_sim/secrets                   {"type":glob,"properties":["primaryKey"]}: GETs of the type return such a key
//
//	GET    /_sim/resources                 [StoredResource]; ?id= or ?type= glob
//	PUT    /_sim/resources                 {"id","body","by"}: put out of band: no operation, parents are created as needed
//	PATCH  /_sim/resources                 {"id","patch","by"}: JSON merge patch of the stored resource
//	                                       "by" is the Author: {"name":"alice@contoso.com","client":"Azure Portal"}; {"system":true}
//	                                       for Azure itself; absent for an unknown one
//	DELETE /_sim/resources?id=ID           delete out of band, with everything below it; &by=NAME &byType= &client= &system=true
//	PUT    /_sim/state                     {"id","provisioningState","properties":{...}}: set a state and end the operation
//
//	GET    /_sim/faults                    [Fault] with matched, fired and waiting
//	POST   /_sim/faults                    Fault; returns it with its id
//	DELETE /_sim/faults[/{id}]             remove; a gate releases what it holds
//	POST   /_sim/faults/{id}/release       release what a gate holds and remove it
//
//	GET    /_sim/operations                [OperationStatus]
//	POST   /_sim/answers                   AnswerRule: the form in which the provider of a type responds: 404, ETags, IDs, methods, preflight
//	POST   /_sim/operations                OperationRule: shape, duration and outcome of later operations
//	DELETE /_sim/operations                remove the rules added here
//	POST   /_sim/holds                     {"type":glob,"id":glob}: matching operations, current and later ones, do not end
//	DELETE /_sim/holds                     end all holds
//
//	PUT    /_sim/providers                 {"namespace","registrationState"} for all subscriptions
//	POST   /_sim/deny                      {"scope":glob,"method":"*"}: 403 AuthorizationFailed for matching IDs
//	DELETE /_sim/deny                      allow everything again
//	PUT    /_sim/throttle                  Throttle; {} switches it off
//	PUT    /_sim/options                   {"readAfterWriteSeconds":5,"approvalSeconds":20,"manualApprovalSeconds":300}: absent fields keep their value
//	PUT    /_sim/reports                   {"graph":{"minDelaySeconds","maxDelaySeconds","lost":0.1,"doubled":0.1,"shuffled":0.1},"events":{...},
//	                                       "mergeSeconds","halfway","retentionSeconds"}: how later changes are reported
//	GET    /_sim/queues                    [QueueStatus]
//	POST   /_sim/queues                    QueueSubscription: {"account","queue","subscription"}: a queue gets events; it is created if absent
//	POST   /_sim/queues/messages           Poison: {"account","queue","kind":"text"}: a message that is no event
//	GET    /_sim/policies                  [Policy]
//	POST   /_sim/policies                  Policy: a modify policy adds tags to bodies, a deny policy refuses them
//	DELETE /_sim/policies[/{name}]         remove
//	GET    /_sim/vaults                    [VaultSecret] with all versions
//	PUT    /_sim/vaults                    VaultChange: {"vault","name","value","tags"} adds a version; "enabled", "deleted"
//	POST   /_sim/vaults/deny               VaultDenial: {"vault":glob,"method","code":"ForbiddenByRbac"}
//	DELETE /_sim/vaults/deny               allow everything again
//	POST   /_sim/keys                      KeyChange: {"id","name":"key1"} regenerates a key of a resource
//	POST   /_sim/types                     TypeLimit: unknown types, and the api-versions and locations on offer
//	DELETE /_sim/types                     offer everything again
//	POST   /_sim/act                       {"id","path","value"}: the owner of a value moves it (see "Values that Azure moves"):
//	                                       "sku.capacity", "properties.count", ...; zones and "properties.locations" take no value
//	POST   /_sim/moves                     {"id","group"}: move a resource, with its children, to a group
//	POST   /_sim/connections               Approval: {"id","connection","status","description"} of a private endpoint;
//	                                       automatic ones are Approved after approvalSeconds, manual ones by this request,
//	                                       or after manualApprovalSeconds where that is not 0
package armsim
