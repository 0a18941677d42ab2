// Command etcd is the store of the test cluster.
package main
