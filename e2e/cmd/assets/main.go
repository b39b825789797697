// Command assets builds the third-party programs that tests and the demo run, and prints the folder that holds them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), `Usage: go run ./cmd/assets [program...]

Builds the programs that are missing or out of date and prints the folder that holds them.
Programs: %s. None given: %s.
The folder is .cache/envtest of the checkout, or the one that %s names.
`, strings.Join(assets.Names(), ", "), strings.Join(assets.APIServer(), " and "), assets.DirVariable)
	}
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = assets.APIServer()
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	dir, err := assets.Ensure(ctx, os.Stderr, names...)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}
