package main

import (
	"context"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// awsZones is the number of zones of the shoot.
const awsZones = 3

// awsDemo is the demo in AWS: of the Infrastructure alone.
type awsDemo struct {
	*demo
	aws *aws.Clusters
}

func newAWSDemo(d *demo) cloudDemo { return &awsDemo{demo: d, aws: aws.In(d.Clusters)} }

func (d *awsDemo) newShoot() (*gardenlet.Shoot, error) {
	return d.aws.Account.NewShootIn("demo", awsZones), nil
}

func (d *awsDemo) draw() ([]string, error) { return d.aws.Cloud.Draw() }

func (d *awsDemo) steps() (steps, cleanUp []step) { return []step{d.nameOtherContracts}, nil }

// nameOtherContracts says what the demo does not show.
func (d *awsDemo) nameOtherContracts(context.Context) error {
	d.screen.Linef("\n  %s", d.screen.Styled(terminal.Dim,
		"ControlPlane, Network and Worker are shown for openstack only: in AWS, upstream's extensions still serve them."))
	return nil
}

func (d *awsDemo) commands() []commands {
	of, key := "kubectl -n "+d.shoot.Namespace(), fake.DefaultKey()
	return []commands{
		{"in the seed", []string{
			"export KUBECONFIG=" + d.Source.Kubeconfig,
			"kubectl get infrastructures -A",
			of + " get infrastructure " + d.shoot.Name + " -o jsonpath='{.status.providerStatus}'",
			of + " annotate infrastructure " + d.shoot.Name + " gardener.cloud/operation=reconcile",
			"go run ./cmd/trellis-inspect " + d.shoot.Namespace(),
		}},
		{"in the cloud, with AWS' own client", []string{
			"export AWS_ENDPOINT_URL=" + d.aws.Cloud.URL() + " AWS_REGION=" + fake.DefaultRegion + " AWS_ACCESS_KEY_ID=" + key.KeyID + " AWS_SECRET_ACCESS_KEY=" + key.Secret,
			"aws ec2 describe-nat-gateways && aws ec2 describe-route-tables",
			"aws ec2 delete-route --destination-cidr-block 0.0.0.0/0 --route-table-id <rtb-...>   # the next reconciliation repairs it",
		}},
		{"behind the scenes", []string{
			"curl -s " + d.Infrastructure.MetricsURL + " | grep trellis_",
			"tail -f " + d.Infrastructure.Log,
		}},
	}
}

func (d *awsDemo) stop(err error) error { return err }
