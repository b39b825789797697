package controlplane_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
	"github.com/trellis-garden/trellis/internal/controlplane/example"
)

// parallel is how many tests run at a time. They spend most of it waiting.
const parallel = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := errors.Join(flag.Set("test.parallel", parallel), controlplanetest.ReuseRSAKeys()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(controlplane.APIServer().Run(m))
}

// The oldest and the newest version of Kubernetes.
const (
	oldestKubernetes = "1.32.9"
	newestKubernetes = "1.36.3"
)

// The names of the example driver's parts.
const (
	ccmName        = "cloud-controller-manager"
	ccmCertificate = ccmName + "-server"
	ccmRole        = "extensions.gardener.cloud:provider-example:" + ccmName
	cloudConfig    = "cloud-config"
	csiController  = "csi-driver-controller"
	csiNode        = "csi-driver-node"
)

// driver is the example driver, changed by functions, which may be nil.
type driver struct {
	example.Driver
	references []string
	validate   func(*controlplane.Shoot) field.ErrorList
	planErr    func() error
	change     func(*controlplane.Plan, *controlplane.Shoot)
}

var _ controlplane.Driver = (*driver)(nil)

func (d *driver) References(*controlplane.Shoot) []string { return d.references }

func (d *driver) Validate(shoot *controlplane.Shoot) field.ErrorList {
	if d.validate == nil {
		return d.Driver.Validate(shoot)
	}
	return d.validate(shoot)
}

func (d *driver) Plan(shoot *controlplane.Shoot) (*controlplane.Plan, error) {
	if d.planErr != nil {
		if err := d.planErr(); err != nil {
			return nil, err
		}
	}
	plan, err := d.Driver.Plan(shoot)
	if err == nil && d.change != nil {
		d.change(plan, shoot)
	}
	return plan, err
}

func exampleImages(t *testing.T) controlplane.Images {
	t.Helper()
	images, err := controlplane.ReadImagesOf([]string{example.Type}, map[string][]byte{example.Type: example.ImageVector()})
	require.NoError(t, err)
	return images
}

// subjectOf returns the controller with the driver. The driver may be changed while there is no reconciliation.
func subjectOf(t *testing.T, d *driver) controlplanetest.Subject {
	t.Helper()
	images := exampleImages(t)
	typeMeta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: kind}
	}
	return controlplanetest.Subject{
		Type: example.Type,
		Program: func(mgr manager.Manager, options contract.Options) error {
			return controlplane.Add(mgr, map[string]controlplane.Driver{example.Type: d}, images, options)
		},
		Inputs: controlplanetest.Inputs{
			ControlPlaneConfig:   &v1alpha1.ControlPlaneConfig{TypeMeta: typeMeta("ControlPlaneConfig")},
			InfrastructureStatus: &v1alpha1.InfrastructureStatus{TypeMeta: typeMeta("InfrastructureStatus"), Network: "network-1"},
			CloudProfileConfig:   &v1alpha1.CloudProfileConfig{TypeMeta: typeMeta("CloudProfileConfig"), URL: "https://cloud.example.org"},
			Credentials:          map[string][]byte{"key": []byte("secret")},
		},
	}
}

// newHarness makes a stage on which the process runs.
func newHarness(t *testing.T, d *driver, changes ...func(*controlplanetest.Subject)) *controlplanetest.Harness {
	t.Helper()
	t.Parallel()
	subject := subjectOf(t, d)
	for _, change := range changes {
		change(&subject)
	}
	return controlplanetest.NewHarness(t, controlplane.APIServer().Get(t), subject)
}
