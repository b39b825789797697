package main

import (
	"context"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// awsZones is the number of zones of the shoot.
const awsZones = 3

// awsDemo is the demo in AWS.
type awsDemo struct {
	*demo
	aws *aws.Clusters
}

func newAWSDemo(d *demo) cloudDemo { return &awsDemo{demo: d, aws: aws.In(d.Clusters)} }

func (d *awsDemo) newShoot() (*gardenlet.Shoot, error) {
	shoot := d.aws.Account.NewShootIn("demo", awsZones)
	d.aws.Account.OfferMachines(shoot)
	small, large := aws.NewPool(growing, awsZones, awsZones), aws.NewPool(rolled, 1, 1)
	large.Machine.Type = aws.LargeMachine
	shoot.Workers = []gardencorev1beta1.Worker{small, large}
	return shoot, nil
}

func (d *awsDemo) draw() ([]string, error) { return d.aws.Cloud.Draw() }

func (d *awsDemo) servers(context.Context) (servers []server, others []string, err error) {
	instances, err := d.aws.Cloud.Instances(d.shoot.Namespace())
	for _, one := range instances {
		servers = append(servers, server{
			id: one.ID, name: one.Name, node: one.DNSName, zone: one.Zone, kind: one.Type, boots: one.Image, address: one.Address,
		})
	}
	return servers, nil, err
}

func (d *awsDemo) steps() []step { return []step{d.changeImage, d.drawMachines} }

func (d *awsDemo) drawMachines(context.Context) error {
	return d.showResources("Resources in the cloud, with the machines")
}

func (d *awsDemo) commands() []commands {
	key := fake.DefaultKey()
	return []commands{{"in the cloud, with AWS' own client", []string{
		"export AWS_ENDPOINT_URL=" + d.aws.Cloud.URL() + " AWS_REGION=" + fake.DefaultRegion + " AWS_ACCESS_KEY_ID=" + key.KeyID + " AWS_SECRET_ACCESS_KEY=" + key.Secret,
		"aws ec2 describe-instances && aws ec2 describe-nat-gateways && aws ec2 describe-route-tables",
		"aws ec2 delete-route --destination-cidr-block 0.0.0.0/0 --route-table-id <rtb-...>   # the next reconciliation repairs it",
	}}}
}
