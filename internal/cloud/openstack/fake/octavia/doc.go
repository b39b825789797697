// Package octavia is Octavia of the fake cloud: load balancers with their listeners, pools, members and the rest. It makes ports in Neutron.
// Users of the fake import package fake only.
package octavia
