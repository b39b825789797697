package aws

import (
	"slices"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// outcome is what the reconciliation has achieved. Lists have a fixed order, so that nothing is written again without a change.
func (rec *reconciliation) outcome() *infrastructure.Outcome {
	outcome := &infrastructure.Outcome{
		ProviderStatus: rec.providerStatus(),
		State:          rec.state.infrastructureState(),
		EgressCIDRs:    rec.egressCIDRs(),
		Pods:           one(rec.plan.pods), Nodes: one(rec.plan.nodes), Services: one(rec.plan.services),
		Findings: rec.allFindings(),
	}
	if rec.plan.ipv6 {
		vpc := rec.vpcIPv6.String()
		outcome.Nodes, outcome.Pods, outcome.Services = append(outcome.Nodes, vpc), append(outcome.Pods, vpc), append(outcome.Services, rec.serviceCIDR)
		outcome.EgressCIDRs = append(outcome.EgressCIDRs, vpc)
	}
	return outcome
}

func (rec *reconciliation) providerStatus() *awsv1alpha1.InfrastructureStatus {
	status := awsv1alpha1.NewInfrastructureStatus()
	status.EC2.KeyName = rec.state.ID(kindKeyPair)
	status.IAM.InstanceProfiles = []awsv1alpha1.InstanceProfile{{Purpose: awsv1alpha1.PurposeNodes, Name: rec.plan.nodesName()}}
	status.IAM.Roles = []awsv1alpha1.Role{{Purpose: awsv1alpha1.PurposeNodes, ARN: rec.roleARN}}
	status.VPC.ID = rec.vpcID
	status.VPC.SecurityGroups = []awsv1alpha1.SecurityGroup{{Purpose: awsv1alpha1.PurposeNodes, ID: rec.nodesGroupID}}
	status.ElasticFileSystem.ID = rec.fileSystem.ID
	for _, z := range rec.plan.zones {
		for _, r := range []struct {
			role    role
			purpose awsv1alpha1.Purpose
		}{{workers, awsv1alpha1.PurposeNodes}, {public, awsv1alpha1.PurposePublic}, {internal, awsv1alpha1.PurposeInternal}} {
			if id := rec.zone(z.name).subnet(r.role); id != "" {
				status.VPC.Subnets = append(status.VPC.Subnets, awsv1alpha1.Subnet{Purpose: r.purpose, ID: id, Zone: z.name})
			}
		}
	}
	return status
}

// egressCIDRs are the public addresses of the NAT gateways.
func (rec *reconciliation) egressCIDRs() []string {
	var all []string
	for _, z := range rec.plan.zones {
		for _, address := range rec.zone(z.name).natPublicIPs {
			all = append(all, address+"/32")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func one(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
