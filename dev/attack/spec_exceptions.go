package main

// RowsWithoutRemoval returns the rows of docs/spec-coverage.md that have no removal, with the
// reason.
func RowsWithoutRemoval() map[string]string {
	return map[string]string{
		"Use the pre-checker when GET works regardless of the owner":                                            "advice of a page; its test runs the example of the page",
		"Document which states block and why":                                                                   "comments: the test reads the files of the folder, which an overlay does not replace",
		"\"Before sending any requests\": actually after the GET (decision record, aso.md)":                     noRemovalYet,
		"Checks before the PUT and can block until prerequisites are met":                                       noRemovalYet,
		"Proceed: operations are attempted":                                                                     noRemovalYet,
		"Runs after ARM succeeded, before Ready":                                                                noRemovalYet,
		"Runs after a pass without a PUT too":                                                                   noRemovalYet,
		"Success: Ready is True":                                                                                noRemovalYet,
		"Failure becomes a condition on the resource":                                                           noRemovalYet,
		"Continues until the check passes or the resource is deleted":                                           noRemovalYet,
		"Beyond: a failed post-check never causes a second PUT by itself":                                       noRemovalYet,
		"Owner and references Ready by the Ready condition, where Armature manages them (`conditions.IsReady`)": noRemovalYet,
		"Other actions: PUT, PATCH and DELETE of other resources":                                               noRemovalYet,
		"Flow: PUT, PATCH or DELETE as needed":                                                                  noRemovalYet,
		"Async operations still initialising":                                                                   noRemovalYet,
		"Message names the connection and asks for approval":                                                    noRemovalYet,
	}
}

// noRemovalYet is the reason of rows whose removal was not tried yet.
const noRemovalYet = "no removal yet"
