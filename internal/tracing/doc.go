// Package tracing connects what one request causes into one trace: the command of the CLI,
// the update of a workflow, the passes that the update requested, their activities, and the
// requests of these to ARM. It owns the trace context in headers of Temporal, the IDs of the
// spans of passes, and the spans of updates, passes and activities. It knows neither
// resources nor exporters: package otlp has those.
//
// A workflow makes no span. It computes the IDs of a pass from its run ID and the number of
// the pass, hands them to its activities in a header, and reports the pass when it has ended,
// unless it replays. Histories therefore replay the same with traces and without.
package tracing
