// Command coredns is the test cluster's DNS: CoreDNS with the plugins that its Corefile names, and no others.
package main
