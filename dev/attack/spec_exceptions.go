package main

// RowsWithoutRemoval returns the rows of docs/contributing/spec-coverage.md that have no patch in spec/,
// with the reason.
func RowsWithoutRemoval() map[string]string {
	return map[string]string{
		"Use the pre-checker when GET works regardless of the owner": "advice of a page; its test runs the example of the page",
		"Document which states block and why":                        "comments: the test reads the files of the folder, which an overlay does not replace",
	}
}
