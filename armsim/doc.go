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
//	GET    /_sim/counters                  Counters
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
//	PUT    /_sim/options                   {"readAfterWriteSeconds":5}
package armsim
