package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := temporaldev.Start(ctx, os.Args[1], temporaldev.Options{Port: 17233, SearchAttributes: workflows.SearchAttributes()})
	if err != nil { fmt.Println(err); os.Exit(1) }
	sim, err := armsim.Listen("127.0.0.1:14545", false, "", nil, armsim.Options{TimeScale: 20})
	if err != nil { fmt.Println(err); os.Exit(1) }
	fmt.Println(s.Address(), sim.URL())
	<-ctx.Done()
	sim.Close(); s.Stop()
}
