// Command armature is the CLI of Armature. It owns the version; package starter has
// everything else. A CLI of your own is a copy of this file with more options.
package main

import (
	"os"

	"github.com/armature-io/armature/starter"
)

// version is set by -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() { os.Exit(starter.Main(os.Args[1:], starter.Options{Version: version})) }
