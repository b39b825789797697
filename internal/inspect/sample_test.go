package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sampleReport is the report on the page about troubleshooting.
func sampleReport() Report {
	infrastructure, network, worker := succeeded("Infrastructure"), succeeded("Network"), succeeded("Worker")
	infrastructure.Type, network.Type, worker.Type = "openstack", "calico", "openstack"
	infrastructure.Resources = []Resource{
		{Kind: "external network", Name: "public", ID: "5a1d9f0e", Origin: OriginShared, Children: []Resource{
			{Kind: "router", ID: "77c2b1aa", Detail: "203.0.113.9", Origin: OriginUser, Children: []Resource{
				{Kind: "network", Name: "shoot--dev--first", ID: "90ee41c7", Origin: OriginTrellis, Children: []Resource{
					{Kind: "subnet of nodes", ID: "c04d7e52", Detail: "10.250.0.0/19", Origin: OriginTrellis},
				}},
			}},
		}},
		{Kind: "security group", Name: "shoot--dev--first", ID: "e5b80213", Origin: OriginTrellis},
	}
	network.State, network.Request = StateUnhealthy, &Request{
		Operation: "reconcile", At: new(before(3 * time.Minute)), Unserved: true,
		Message: "no controller has picked it up; check that one for Network of type calico is installed and running",
	}
	network.ManagedResources = &ManagedResources{Total: 2}
	worker.State = StateUnhealthy
	worker.LastOperation = &Operation{
		Type: "Reconcile", State: "Processing", Progress: 60, Description: "waiting for machines (pool cpu: 2 of 3 machines joined)", At: before(9 * time.Second),
	}
	worker.Conditions = []Condition{{Type: "EveryNodeReady", Status: "Progressing", Reason: "HealthCheckProgressing", Message: "2 of 3 nodes are registered.", Since: before(40 * time.Second)}}
	worker.MachineDeployments = []MachineDeployment{{Name: "shoot--dev--first-cpu-z1", Wanted: 3, Exist: 3, Ready: 2, Updated: 3}}
	worker.FailedMachines = []Machine{{
		Name: "shoot--dev--first-cpu-z1-7c9f5-x2k8p", Phase: "CrashLoopBackOff", Operation: "Create", Code: "ResourceExhausted",
		Message: "the quota of cores is exceeded", At: before(2 * time.Minute),
	}}
	return Report{Namespace: "shoot--dev--first", At: testNow(), State: StateUnhealthy, Objects: []Object{infrastructure, network, worker}}
}

func TestText_SampleInDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations", "troubleshooting.md"))
	require.NoError(t, err)
	sample := "```text\n" + Text(sampleReport()) + "```\n"
	if !strings.Contains(string(page), sample) {
		t.Errorf("the page lacks:\n%s", sample)
	}
}
