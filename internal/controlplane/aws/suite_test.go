package aws

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

// apiServer is that of all tests with a process.
var apiServer contracttest.Shared

// parallel is how many tests run at a time. They spend most of it waiting.
const parallel = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := errors.Join(flag.Set("test.parallel", parallel), controlplanetest.ReuseRSAKeys()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(apiServer.Run(m))
}

// subject is a shoot with all components that a shoot of IPv4 can have.
func subject(t *testing.T) controlplanetest.Subject {
	t.Helper()
	images, err := controlplane.ReadImagesOf([]string{Type}, map[string][]byte{Type: ImageVector()})
	if err != nil {
		t.Fatal(err)
	}
	typeMeta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: awsv1alpha1.GroupVersion().String(), Kind: kind}
	}
	definition := func(name string) contracttest.Key {
		return contracttest.Key{Kind: "CustomResourceDefinition", Name: name}
	}
	return controlplanetest.Subject{
		Type: Type,
		Program: func(mgr manager.Manager, options contract.Options) error {
			return controlplane.Add(mgr, map[string]controlplane.Driver{Type: New()}, images, options)
		},
		Inputs: controlplanetest.Inputs{
			ControlPlaneConfig: &awsv1alpha1.ControlPlaneConfig{
				TypeMeta:               typeMeta("ControlPlaneConfig"),
				CloudControllerManager: &awsv1alpha1.CloudControllerManagerConfig{UseCustomRouteController: new(true)},
				LoadBalancerController: &awsv1alpha1.LoadBalancerControllerConfig{Enabled: true},
			},
			InfrastructureStatus: &awsv1alpha1.InfrastructureStatus{TypeMeta: typeMeta("InfrastructureStatus"), VPC: awsv1alpha1.VPCStatus{
				ID: "vpc-1", Subnets: []awsv1alpha1.Subnet{{Purpose: awsv1alpha1.PurposePublic, ID: "subnet-1", Zone: "one-a"}},
			}, ElasticFileSystem: awsv1alpha1.ElasticFileSystemStatus{ID: "fs-1"}},
			Credentials: accessKey(),
			Webhooks:    true,
			Retired:     []contracttest.Key{{Kind: "ClusterRoleBinding", Name: upstreamCCMBinding}},
			Kept:        []contracttest.Key{definition("ingressclassparams.elbv2.k8s.aws"), definition("targetgroupbindings.elbv2.k8s.aws")},
		},
	}
}

func TestLifecycle(t *testing.T) {
	controlplanetest.Run(t, apiServer.Get(t), subject(t))
}

// All writes are the contract's, whose tests let each of them fail in every way. Here each fails once, with what only this driver plans.
func TestExplore(t *testing.T) {
	t.Parallel()
	controlplanetest.RunExploration(t, apiServer.Get(t), subject(t), contracttest.Options{
		Phases: []contracttest.Phase{contracttest.Create}, Filter: "every call once",
	})
}
