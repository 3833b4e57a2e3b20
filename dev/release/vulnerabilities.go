package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

// govulncheck is the pinned checker.
const govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"

// maxDatabaseWait bounds the request that finds out whether the database can be reached.
const maxDatabaseWait = 20 * time.Second

// errUnreachable reports that no connection to the vulnerability database was made.
var errUnreachable = errors.New("the vulnerability database cannot be reached")

// checkVulnerabilities checks the npm packages, and runs govulncheck on the product module. Only a database that
// cannot be reached skips the check, with a line that says so; --required fails then
// too. A vulnerability in code that the product calls fails, and so does everything
// that keeps the check from its end.
func checkVulnerabilities(ctx context.Context, w io.Writer, o options) error {
	if err := checkPackages(ctx, w, o); err != nil {
		return err
	}
	err := reachDatabase(ctx, o.database)
	switch {
	case errors.Is(err, errUnreachable) && !o.required:
		fmt.Fprintf(w, "SKIPPED: check for known vulnerabilities: %v; run make vulnerabilities where it can\n", err)
		return nil
	case err != nil:
		return err
	}
	command := exec.CommandContext(ctx, "go", "run", govulncheck, "-db", o.database, "./...")
	var output bytes.Buffer
	both := io.MultiWriter(w, &output)
	command.Dir, command.Stdout, command.Stderr = o.root, both, both
	err = command.Run()
	// The exit code of govulncheck was once seen as 0 beside a finding, on a busy machine.
	if err == nil && strings.Contains(output.String(), "Vulnerability #") {
		err = errFinding
	}
	if err != nil {
		return fmt.Errorf("check for known vulnerabilities: govulncheck found one, or failed (its output is above): %w", err)
	}
	return nil
}

// errFinding is the error of output with a finding.
var errFinding = errors.New("the output has a finding")

// reachDatabase returns errUnreachable if no connection can be made, and another error
// if the server has no database.
func reachDatabase(ctx context.Context, database string) error {
	ctx, cancel := context.WithTimeout(ctx, maxDatabaseWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(database, "/")+"/index/db.json", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("read the vulnerability database %s: status %s", database, response.Status)
	}
	return nil
}
