package main

// replacements are changes that a review made by hand and that the syntax tree does not suggest.
// Its other changes drop, double, swap or negate.
var replacements = []Replacement{
	{"State.historyLimit", "firstHistoryLength", "60"},
	{"State.historyLimit", "firstHistoryLength", "400"},
	{"State.historyLimit", "firstHistoryLength", "2000"},
	{
		"HoldFreeze", "awaitOrTimer(ctx, duration, summarize(summary), func() bool { return f.messages != handled || newRunAsked(ctx) })",
		"workflow.Sleep(ctx, duration)",
	},
	{
		"HoldBudgets", `awaitOrTimer(ctx, pruneInterval, "counting PUTs that no user requested", func() bool { return k.messages != handled || newRunAsked(ctx) })`,
		"workflow.Sleep(ctx, pruneInterval)",
	},
}
