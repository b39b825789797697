package openstack

import (
	"context"
	"fmt"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// observeShareNetwork looks for the share network where one is wanted, whatever its name is by now.
func (p *pass) observeShareNetwork(ctx context.Context) error {
	if !p.plan.shareNetwork {
		return nil
	}
	if err := p.requireShares(); err != nil {
		return err
	}
	found, err := search[cloudopenstack.ShareNetwork]{
		what: "share network", kind: kindShareNetwork,
		byID: func(ctx context.Context, id string) ([]cloudopenstack.ShareNetwork, error) {
			return p.cloud.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{ID: id})
		},
		byMark:   p.markedShareNetworks,
		identify: func(s cloudopenstack.ShareNetwork) (string, string) { return s.ID, s.Description },
	}.find(ctx, p)
	p.seen.shareNetwork = found
	return err
}

func (p *pass) requireShares() error {
	if p.cloud.HasShares() {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "networks.shareNetwork.enabled: this cloud offers no shared file systems "+
		"(Manila is not in its catalog for the region); switch the share network off")
}

// markedShareNetworks returns those that carry the mark. Manila does not filter by description: it is asked for the name
// that they got at birth.
func (p *pass) markedShareNetworks(ctx context.Context, mark string) ([]cloudopenstack.ShareNetwork, error) {
	found, err := p.cloud.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{Name: p.technicalID})
	return slices.DeleteFunc(found, func(share cloudopenstack.ShareNetwork) bool { return share.Description != mark }), err
}

// ensureShareNetwork creates the share network over network and node subnet.
func (p *pass) ensureShareNetwork(ctx context.Context) error {
	share := p.seen.shareNetwork
	if share == nil {
		created, err := p.cloud.CreateShareNetwork(ctx, cloudopenstack.ShareNetworkCreate{
			Name: p.technicalID, Description: p.mark, NetworkID: p.net.ID, SubnetID: p.heldSubnet(kindSubnet).ID,
		})
		if err != nil {
			p.notCreated(kindShareNetwork, err)
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
