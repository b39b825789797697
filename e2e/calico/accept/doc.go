// Package accept validates rendered objects with Calico's own code: Felix' and Typha's parsers, libcalico-go's client and validators, the start of
// calico-node, the installer of the CNI plugin, the plugin itself and its IPAM. It must not know how the objects are rendered: it reads them from files.
//
// Code that may exit its process, or has fixed paths, runs as a process of its own: the test binary, started again (see Main).
package accept
