// Command names is the DNS server of the cluster: SERVICE.NAMESPACE.svc.cluster.local is the service's address, or the
// addresses of its ready pods if the service is headless, and HOST.SERVICE.NAMESPACE.svc.cluster.local that of its pod with
// that host name. All other names do not exist; nothing is asked of anyone else.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	suffix         = ".svc.cluster.local."
	secondsToLive  = 2
	largestRequest = 1232
)

type directory struct {
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
}

// addresses says whether the name is a service's, and what its addresses are.
func (d directory) addresses(name string) ([]net.IP, bool) {
	inner, ours := strings.CutSuffix(strings.ToLower(name), suffix)
	service, namespace, two := strings.Cut(inner, ".")
	if !ours || !two {
		return nil, false
	}
	// A pod with a host name of its own is HOST.SERVICE.NAMESPACE; no namespace has a dot.
	if host, service, namespace := service, "", ""; strings.Contains(inner[len(host)+1:], ".") {
		service, namespace, _ = strings.Cut(inner[len(host)+1:], ".")
		ips := d.pods(namespace, service, host)
		return ips, len(ips) > 0
	}
	found, err := d.services.Services(namespace).Get(service)
	if err != nil {
		return nil, false
	}
	if found.Spec.ClusterIP != core.ClusterIPNone {
		return []net.IP{net.ParseIP(found.Spec.ClusterIP)}, true
	}
	return d.pods(namespace, service, ""), true
}

// pods are the addresses of the ready pods of a service, of one host name if that is not empty.
func (d directory) pods(namespace, service, host string) []net.IP {
	var ips []net.IP
	mine := labels.Set{discovery.LabelServiceName: service}.AsSelector()
	found, err := d.slices.EndpointSlices(namespace).List(mine)
	if err != nil {
		return nil
	}
	for _, slice := range found {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready != nil && !*endpoint.Conditions.Ready {
				continue
			}
			if host != "" && (endpoint.Hostname == nil || *endpoint.Hostname != host) {
				continue
			}
			for _, address := range endpoint.Addresses {
				ips = append(ips, net.ParseIP(address))
			}
		}
	}
	return ips
}

func (d directory) answer(packet []byte) ([]byte, error) {
	var request dnsmessage.Message
	if err := request.Unpack(packet); err != nil {
		return nil, err
	}
	reply := dnsmessage.Message{Header: dnsmessage.Header{
		ID: request.ID, Response: true, Authoritative: true, RecursionDesired: request.RecursionDesired,
	}}
	if len(request.Questions) != 1 {
		reply.RCode = dnsmessage.RCodeFormatError
		return reply.Pack()
	}
	question := request.Questions[0]
	reply.Questions = request.Questions
	ips, exists := d.addresses(question.Name.String())
	if !exists {
		reply.RCode = dnsmessage.RCodeNameError
	}
	if question.Type == dnsmessage.TypeA {
		for _, ip := range ips {
			if four := ip.To4(); four != nil {
				reply.Answers = append(reply.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: secondsToLive},
					Body:   &dnsmessage.AResource{A: [4]byte(four)},
				})
			}
		}
	}
	return reply.Pack()
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	listen := flag.String("listen", "127.0.0.1:53", "UDP address to answer on")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), time.Hour)
	d := directory{
		services: factory.Core().V1().Services().Lister(),
		slices:   factory.Discovery().V1().EndpointSlices().Lister(),
	}
	factory.Start(context.Background().Done())
	factory.WaitForCacheSync(context.Background().Done())
	socket, err := net.ListenPacket("udp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Print("answering on ", *listen)
	packet := make([]byte, largestRequest)
	for {
		size, from, err := socket.ReadFrom(packet)
		if err != nil {
			log.Fatal(err)
		}
		reply, err := d.answer(packet[:size])
		if err != nil {
			log.Printf("%s sent what is no request: %v", from, err)
			continue
		}
		if _, err := socket.WriteTo(reply, from); err != nil {
			log.Print(err)
		}
	}
}
