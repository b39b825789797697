package aws_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/aws"
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
	workertest.Run(t, apiServer.Get(t), suiteSubject(region+"a", region+"b"))
}

// RunExploration runs several cases at a time itself.
func TestWorkerSuite_Exploration(t *testing.T) {
	workertest.RunExploration(t, apiServer.Get(t), suiteSubject(region+"a"), contracttest.Options{MergeFaults: true})
}

// suiteSubject has a second pool in the given zones.
func suiteSubject(zones ...string) workertest.Subject {
	return workertest.Subject{
		Type:     aws.Type,
		NewCloud: func(workertest.Identity) (workertest.Cloud, error) { return suiteCloud{zones}, nil },
		Want:     map[string]int{},
	}
}

// suiteCloud is a cloud that gets no requests, and in which workers have no resources.
type suiteCloud struct {
	zones []string // of the second pool
}

var _ workertest.Cloud = suiteCloud{}

// Inputs implements workertest.Cloud.
func (c suiteCloud) Inputs() workertest.Inputs {
	profile := newProfile(contracttest.Region)
	profile.TypeMeta = metav1.TypeMeta{APIVersion: awsv1alpha1.GroupVersion().String(), Kind: "CloudProfileConfig"}
	return workertest.Inputs{
		CloudProfileConfig:   profile,
		InfrastructureStatus: newInfrastructureStatus(),
		Credentials:          map[string][]byte{"accessKeyID": []byte("none"), "secretAccessKey": []byte("none")},
		Pools:                []extensionsv1alpha1.WorkerPool{suitePool("first", region+"a"), suitePool("last", c.zones...)},
		// Upstream may have named the classes by the sorted volumes.
		IgnoredByUpstream: func(pool *extensionsv1alpha1.WorkerPool) {
			volumes := pool.DataVolumes
			volumes[0], volumes[1] = volumes[1], volumes[0]
		},
	}
}

func suitePool(name string, zones ...string) extensionsv1alpha1.WorkerPool {
	return extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: "m5.large", Zones: zones,
		MachineImage: extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1877.3.0"},
		Volume:       &extensionsv1alpha1.Volume{Size: "50Gi", Type: new("gp3")},
		DataVolumes:  []extensionsv1alpha1.DataVolume{{Name: "cache", Size: "20Gi", Type: new("gp3")}, {Name: "logs", Size: "1Ti", Type: new("st1")}},
	}
}

// NewDriver implements workertest.Cloud.
func (c suiteCloud) NewDriver(contracttest.Transport) (worker.Driver, error) { return aws.New(), nil }

// Resources implements workertest.Cloud.
func (c suiteCloud) Resources() ([]workertest.Resource, error) { return nil, nil }

// Close implements workertest.Cloud.
func (c suiteCloud) Close() error { return nil }
