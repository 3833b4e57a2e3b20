package postgres

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// listsVariable is the number of resources to list; seedCount is the default.
	listsVariable = "POSTGRES_LISTS"
	seedCount     = 1300
	// firstPage and nextPage are the sizes of pages on a store that is not SQLite.
	firstPage, nextPage = 250, 1000
)

// lists gets thousands of resources by one list request per 1,000 rows and no query. What it
// took is printed.
func (g ground) lists() {
	count := seedCount
	if text := os.Getenv(listsVariable); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			g.T.Fatalf("%s: %v", listsVariable, err)
		}
	}
	g.SeedReady(count, func(i int) string {
		return fmt.Sprintf("%s/resourceGroups/listed/providers/Microsoft.Example/things/t%d", subscription, i)
	})
	meter := g.Meter()
	g.Until(30*time.Second, "all are listed", func() (bool, string) {
		meter.Reset()
		begun := time.Now()
		list := g.MustCLI("get", "--group", "listed").Out
		rows := strings.Count(list, "\n") - 1
		g.T.Logf("get of %d resources: %.2f s", rows, time.Since(begun).Seconds())
		return rows >= count, fmt.Sprintf("%d rows", rows)
	})
	sent, want := meter.Requests(), 1+(count-firstPage+nextPage-1)/nextPage
	if sent["ListWorkflowExecutions"] != want || sent["QueryWorkflow"] != 0 {
		g.T.Errorf("get sent %v, want %d lists and no query", sent, want)
	}
}
