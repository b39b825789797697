package workertest_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

var apiServer contracttest.Shared

// parallel is how many tests run at a time. They spend most of it waiting.
const parallel = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(apiServer.Run(m))
}
