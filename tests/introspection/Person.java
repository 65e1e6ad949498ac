import java.awt.Robot;
import java.awt.event.InputEvent;
import java.awt.event.KeyEvent;
import java.util.Scanner;

/** Someone at mouse and keyboard, in a process of their own: the program under test gets events as from a person. */
public class Person {
    public static void main(String[] arguments) throws Exception {
        Robot robot = new Robot();
        robot.setAutoDelay(30);
        System.out.println("READY");
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String[] words = lines.nextLine().split(" ", 2);
            switch (words[0]) {
                case "click":
                    click(robot, words[1].split(" "), 1);
                    break;
                case "double":
                    click(robot, words[1].split(" "), 2);
                    break;
                case "key":
                    press(robot, KeyEvent.class.getField("VK_" + words[1]).getInt(null));
                    break;
                default:
                    for (char letter : words[1].toCharArray()) {
                        press(robot, KeyEvent.getExtendedKeyCodeForChar(letter));
                    }
            }
            robot.waitForIdle();
            System.out.println("done");
        }
    }

    private static void click(Robot robot, String[] at, int times) {
        robot.mouseMove(Integer.parseInt(at[0]), Integer.parseInt(at[1]));
        for (int i = 0; i < times; i++) {
            robot.mousePress(InputEvent.BUTTON1_DOWN_MASK);
            robot.mouseRelease(InputEvent.BUTTON1_DOWN_MASK);
        }
    }

    private static void press(Robot robot, int key) {
        robot.keyPress(key);
        robot.keyRelease(key);
    }
}
