package controlplane_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
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

const (
	testType           = "test"
	exampleDriverName  = "example.csi.example.org"
	exampleManagerName = "example-manager"
)

// driver plans a control plane of one component and one storage driver, of data alone. The functions may be nil.
type driver struct {
	references []string
	validate   func(*controlplane.Shoot) field.ErrorList
	planErr    func() error
	change     func(*controlplane.Plan, *controlplane.Shoot)
}

var _ controlplane.Driver = (*driver)(nil)

func (d *driver) References(*controlplane.Shoot) []string { return d.references }

func (d *driver) Validate(shoot *controlplane.Shoot) field.ErrorList {
	if d.validate == nil {
		return nil
	}
	return d.validate(shoot)
}

func (d *driver) Tune(*controlplane.TuneRequest) (*tuning.Tuning, error) {
	return &tuning.Tuning{}, nil
}

func (d *driver) CompleteCredentials(*corev1.Secret, *contract.Cluster) error { return nil }

func (d *driver) Plan(shoot *controlplane.Shoot) (*controlplane.Plan, error) {
	if d.planErr != nil {
		if err := d.planErr(); err != nil {
			return nil, err
		}
	}
	login := fmt.Appendf(nil, "user=%s\npassword=%s\n", shoot.Credentials["username"], shoot.Credentials["password"])
	plan := &controlplane.Plan{
		Configs:         []controlplane.Config{{Name: "example-config", Files: map[string][]byte{"example.conf": login}}},
		Certificates:    []controlplane.Certificate{{Name: exampleManagerName + "-server", Service: exampleManagerName}},
		Components:      []component.Component{exampleManager()},
		CSIDrivers:      []csi.Driver{exampleDriver()},
		ShootObjects:    []client.Object{role(exampleManagerName, "nodes")},
		StorageClasses:  []storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Provisioner: exampleDriverName}},
		SnapshotClasses: []csi.SnapshotClass{{Name: "example", Driver: exampleDriverName, Default: true, DeletionPolicy: "Delete"}},
	}
	if d.change != nil {
		d.change(plan, shoot)
	}
	return plan, nil
}

func role(name, resource string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: []string{"get"}}},
	}
}

func exampleManager() component.Component {
	return component.Component{
		Name: exampleManagerName, Selector: map[string]string{"app": exampleManagerName}, Priority: "gardener-system-300", User: 2000,
		Containers: []component.Container{{
			Name: exampleManagerName, Image: "example",
			Ports:    []corev1.ContainerPort{{Name: "metrics", ContainerPort: 10258}},
			Liveness: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(10258)}}},
			Files: []component.Files{
				{Source: "example-config", Path: "/etc/example"}, {Source: exampleManagerName + "-server", Path: "/var/lib/server"},
			},
			ShootAccess: exampleManagerName,
		}},
		Egress:  []component.Destination{component.PublicNetworks},
		Metrics: &component.Metrics{Port: "metrics", Certificate: exampleManagerName + "-server", Keep: []string{"example_total"}},
	}
}

func exampleDriver() csi.Driver {
	return csi.Driver{
		Name: exampleDriverName,
		Controller: csi.Controller{
			Name: "example-csi", Selector: map[string]string{"app": "example-csi"}, ContainerPrefix: "example-", User: 65532,
			Plugin: component.Container{Name: "example-driver", Image: "example", Files: []component.Files{{Source: "example-config", Path: "/etc/example"}}},
			Sidecars: csi.Sidecars{
				Provisioner: &csi.Sidecar{ShootAccess: "csi-provisioner"}, Snapshotter: &csi.Sidecar{ShootAccess: "csi-snapshotter"},
			},
		},
		Node: csi.Node{
			Name: "example-node", Selector: map[string]string{"app": "example-node"}, ServiceAccount: "example-node", ContainerPrefix: "example-",
			Plugin: component.Container{Name: "example-driver", Image: "example"}, HealthPort: 9808, Critical: true,
		},
		RolePrefix: "extensions.gardener.cloud:provider-test:",
	}
}

func testImages(t *testing.T) images.Vector {
	t.Helper()
	images, err := controlplane.ReadImages([]byte("images: [{name: example, repository: registry.example.org/example, tag: v1}]"))
	require.NoError(t, err)
	return images
}

// subjectOf returns the controller with the driver. The driver may be changed while no pass is under way.
func subjectOf(t *testing.T, d *driver) controlplanetest.Subject {
	t.Helper()
	images := testImages(t)
	return controlplanetest.Subject{
		Type: testType,
		Program: func(mgr manager.Manager, options contract.Options) error {
			return controlplane.Add(mgr, map[string]controlplane.Driver{testType: d}, images, options)
		},
		Inputs: controlplanetest.Inputs{
			Credentials: map[string][]byte{"username": []byte("gardener"), "password": []byte("secret")},
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
