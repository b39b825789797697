package openstack

import (
	"context"
	"fmt"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// observeShareNetwork looks for the share network where one is wanted. Manila filters by neither ID nor description, so
// that one request by name serves for both.
func (p *pass) observeShareNetwork(ctx context.Context) error {
	if !p.plan.shareNetwork {
		return nil
	}
	if err := p.requireShares(); err != nil || p.untouched {
		return err
	}
	found, err := p.findShareNetworks(ctx)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		p.seen.shareNetwork = &found[0]
	}
	return nil
}

func (p *pass) requireShares() error {
	if p.cloud.HasShares() {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "networks.shareNetwork.enabled: this cloud offers no shared file systems "+
		"(Manila is not in its catalog for the region); switch the share network off")
}

// findShareNetworks returns the recorded share network and those that carry the shoot's mark.
func (p *pass) findShareNetworks(ctx context.Context) ([]cloudopenstack.ShareNetwork, error) {
	id, name := p.ledger.id(kindShareNetwork), p.ledger.fact(openstackv1alpha1.StateKeyShareNetworkName)
	if name == "" {
		name = p.technicalID
	}
	found, err := p.cloud.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{Name: name})
	if err != nil {
		return nil, fmt.Errorf("looking for a share network of the shoot: %w", err)
	}
	var ours []cloudopenstack.ShareNetwork
	for _, share := range found {
		if share.ID == id || share.Description == p.mark {
			ours = append(ours, share)
		}
	}
	return ours, nil
}

// ensureShareNetwork creates the share network over network and node subnet.
func (p *pass) ensureShareNetwork(ctx context.Context) error {
	share := p.seen.shareNetwork
	if share == nil {
		created, err := p.cloud.CreateShareNetwork(ctx, cloudopenstack.ShareNetworkCreate{
			Name: p.technicalID, Description: p.mark, NetworkID: p.net.ID, SubnetID: p.heldSubnet(kindSubnet).ID,
		})
		if err != nil {
			return fmt.Errorf("creating share network %q: %w", p.technicalID, err)
		}
		p.log.Info("Created share network", "id", created.ID)
		share = &created
	}
	if subnet := p.heldSubnet(kindSubnet).ID; share.SubnetID != subnet {
		p.report(fmt.Sprintf("share network %s is over subnet %s, not over the node subnet %s", share.ID, share.SubnetID, subnet))
	}
	p.hold(kindShareNetwork, share.ID, own, map[string]string{openstackv1alpha1.StateKeyShareNetworkName: share.Name})
	return nil
}
