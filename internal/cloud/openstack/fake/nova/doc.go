// Package nova is Nova of the fake cloud: servers, server groups, key pairs and flavors. It reads and changes ports, images and
// volumes of Neutron, Glance and Cinder. Users of the fake import package fake only.
package nova
