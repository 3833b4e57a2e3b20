// Command release makes and checks what a release has beside its programs. It runs in
// dev/ and reads the product module in the folder --root.
//
//	release licenses                       check the licenses of all linked modules
//	release vulnerabilities [--required]   check for known vulnerabilities, if the database can be reached
//	release sbom --version V FOLDER        write a CycloneDX file beside each program, the licenses and SHA256SUMS
//	release pack --version V FOLDER        add images, chart and notes to a folder, and write SHA256SUMS again
//	release ready --version V              check that a release of the commit can be made
//	release commands --version V FOLDER    print the commands that publish the files
//	release compare FOLDER FOLDER          compare two builds of a release
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:gocritic // the process ends, with its signals
	}
}

// options are the flags of all commands.
type options struct {
	root, version, database string
	platforms, packages     []string
	required                bool
	time                    time.Time
}

// run runs one command.
func run(ctx context.Context, w io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New("name a command: licenses, vulnerabilities, sbom, pack, ready, commands or compare")
	}
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.root, "root", "..", "folder of the product module")
	flags.StringVar(&o.version, "version", "unknown", "version of the release")
	flags.StringVar(&o.database, "database", "https://vuln.go.dev", "address of the vulnerability database")
	flags.BoolVar(&o.required, "required", false, "fail if the database cannot be reached")
	seconds := flags.Int64("time", 0, "time of the commit, in seconds since 1970: images and archives have it")
	platforms := flags.String("platforms", "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64", "GOOS/GOARCH, separated by spaces")
	packages := flags.String("packages", "./starter/cmd ./worker ./armsim/cmd", "main packages that are released, separated by spaces")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	o.time = time.Unix(*seconds, 0)
	o.platforms, o.packages = strings.Fields(*platforms), strings.Fields(*packages)
	switch folders := flags.Args(); {
	case args[0] == "licenses" && len(folders) == 0:
		return licensesCommand(ctx, w, o)
	case args[0] == "vulnerabilities" && len(folders) == 0:
		return checkVulnerabilities(ctx, w, o)
	case args[0] == "sbom" && len(folders) == 1:
		return sbomCommand(ctx, o, folders[0])
	case args[0] == "pack" && len(folders) == 1:
		return packCommand(ctx, o, folders[0])
	case args[0] == "ready" && len(folders) == 0:
		return checkReady(ctx, o)
	case args[0] == "commands" && len(folders) == 1:
		return commandsCommand(w, o, folders[0])
	case args[0] == "compare" && len(folders) == 2:
		return compareFolders(w, folders[0], folders[1])
	}
	return fmt.Errorf("%s: unknown command, or another number of folders than it takes", args[0])
}

// licensesCommand checks the licenses of all modules that a release links, and of the npm
// packages that it embeds.
func licensesCommand(ctx context.Context, w io.Writer, o options) error {
	modules, err := linkedModules(ctx, o.root, o.platforms, o.packages)
	if err != nil {
		return err
	}
	reader, err := newLicenseReader()
	if err != nil {
		return err
	}
	packages, err := npmPackages(o.root)
	if err != nil {
		return err
	}
	return checkLicenses(w, reader, withPackages(modules, packages))
}
