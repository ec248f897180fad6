// From producer to consumers on kafkajs, in one group with a Python member.
//
// First start mixed_group.py [BOOTSTRAP] [TOPIC] RoundRobinAssigner, then
//
//     npm ci
//     node mixed_group.js [BOOTSTRAP] [TOPIC]
//
// For each heartbeat that hears of a new round kafkajs writes an error: that is as it should be.
const { setTimeout: sleep } = require('timers/promises')
const { Kafka, PartitionAssigners, Partitioners, logLevel } = require('kafkajs')

const [bootstrap = 'localhost:9092', topic = 'orders'] = process.argv.slice(2)
const PARTITIONS = 6
const RECORDS = 60

let owned = []
const seen = new Set() // what was read, by partition and offset

async function join(kafka) {
  const consumer = kafka.consumer({
    groupId: `${topic}-readers`,
    partitionAssigners: [PartitionAssigners.roundRobin],
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    owned = (payload.memberAssignment[topic] || []).sort((a, b) => a - b)
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) => seen.add(`${partition}@${message.offset}`),
  })
  return consumer
}

async function write(kafka) {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const messages = Array.from({ length: RECORDS }, (_, number) => ({
    value: String(number),
    partition: number % PARTITIONS,
  }))
  await producer.send({ topic, messages })
  await producer.disconnect()
}

async function until(isDone) {
  while (!isDone()) await sleep(50)
}

async function main() {
  const kafka = new Kafka({ clientId: 'node', brokers: [bootstrap], logLevel: logLevel.ERROR })
  const consumer = await join(kafka)
  await until(() => owned.length === PARTITIONS / 2)
  console.log('together: node has', ...owned)
  await write(kafka)
  console.log(RECORDS, 'records written')
  await until(() => seen.size === RECORDS / 2)
  console.log(seen.size, 'of', RECORDS, 'records read')
  await until(() => owned.length === PARTITIONS)
  console.log('python left: node has', ...owned)
  await consumer.disconnect()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
