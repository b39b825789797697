package openstack_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/openstack"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

var apiServer contracttest.Shared

// parallel is how many tests run at a time. They spend most of it waiting, but some of them count writes over time.
const parallel = "4"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(apiServer.Run(m))
}

func TestWorkerSuite(t *testing.T) {
	t.Parallel()
	workertest.Run(t, apiServer.Get(t), suiteSubject(newDriver, "nova", "north"))
}

// RunExploration runs several cases at a time itself.
func TestWorkerSuite_Exploration(t *testing.T) {
	workertest.RunExploration(t, apiServer.Get(t), suiteSubject(newDriver, "nova"), contracttest.Options{MergeFaults: true})
}

// The suite must reject drivers that create without looking for existing resources, that take a name with the prefix of the shoot's for the
// shoot's own, or that leave resources behind.
func TestWorkerSuite_BrokenDrivers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		build     func(*cloudopenstack.Sessions) worker.Driver
		violation string
	}{
		"duplicatingDriver": {
			func(s *cloudopenstack.Sessions) worker.Driver { return duplicatingDriver{newBrokenDriver(s)} }, "instead of map[server group:2]",
		},
		"prefixDeletingDriver": {
			func(s *cloudopenstack.Sessions) worker.Driver { return prefixDeletingDriver{newBrokenDriver(s)} }, "foreign server group",
		},
		"leakingDriver": {
			func(s *cloudopenstack.Sessions) worker.Driver { return leakingDriver{newBrokenDriver(s)} }, "left behind: server group",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations := workertest.Violations(t.Context(), apiServer.Get(t), suiteSubject(tc.build, "nova"), "create, again, delete")
			assert.Contains(t, strings.Join(violations, "\n"), tc.violation)
		})
	}
}

func newDriver(sessions *cloudopenstack.Sessions) worker.Driver { return openstack.New(sessions) }

// suiteSubject is a cloud whose second pool has the given zones.
func suiteSubject(build func(*cloudopenstack.Sessions) worker.Driver, zones ...string) workertest.Subject {
	return workertest.Subject{
		Type: openstack.Type,
		NewCloud: func(shoot workertest.Identity) (workertest.Cloud, error) {
			return newSuiteCloud(shoot, build, zones)
		},
		ErrorResponses: suiteErrorResponses,
		Want:           map[string]int{"server group": 2},
	}
}
